import { useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { NewQuizForm } from '../rundown/quiz-forms.tsx';
import { usePermission } from '../session/session-context.ts';
import { useStartShow } from '../streams/use-start-show.tsx';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Dialog } from '../ui/dialog.tsx';
import { showError } from '../ui/toasts.tsx';
import { EndedPanel } from './ended-panel.tsx';
import { type NextStep, nextStep, stepKeyOf, winnersBlocker } from './next-step.ts';
import { RundownButton } from './rundown-panel.tsx';
import { StagePanel } from './stage-panel.tsx';
import { texts } from './texts.ts';
import { useCtrlEnter } from './use-ctrl-enter.ts';
import { usePressGuard } from './use-press-guard.ts';

interface NextPanelProps {
  readonly state: LiveState;
  readonly quizzes: readonly StudioQuiz[];
  /** Whether the connection is up; else buttons are disabled. */
  readonly isConnected: boolean;
}

const INVALIDATED = ['listQuizzes', 'readOwnStream'] as const;

/** The next step of the show as one button. */
export function NextPanel({ state, quizzes, isConnected }: NextPanelProps) {
  const step = nextStep(state, quizzes);
  const { run, canRun, isPending, startDialog } = useStep(step, state, isConnected);
  const [isAdding, setAdding] = useState(false);
  const mayPublish = usePermission('publishQuiz');
  const hasEnded = state.stream.status === 'ENDED';
  const hasAction = mayPublish && step.kind !== 'nothing';
  const label = step.kind === 'over' ? null : texts.next.steps[step.kind];
  const button =
    step.kind === 'nothing' ? (
      <Button variant="primary" size="big" isWide icon={<Plus />} onPress={() => setAdding(true)}>
        {texts.next.addQuiz}
      </Button>
    ) : (
      <Button
        variant="primary"
        size={hasEnded ? 'normal' : 'big'}
        isWide
        isPending={isPending}
        isDisabled={!canRun}
        onPress={run}
        aria-keyshortcuts="Control+Enter"
      >
        {step.kind === 'start' && state.source ? texts.next.goLive : label}
      </Button>
    );
  const panel = (
    <StagePanel title={texts.next.title} place="next" aside={hasAction && <Keys />}>
      <div className="flex min-h-0 flex-1 flex-col">
        {'quiz' in step && step.kind !== 'wait' && <Upcoming quiz={step.quiz} />}
        {(!mayPublish || step.kind === 'nothing') && <p className="font-semibold">{label}</p>}
      </div>
      {mayPublish && (
        <div className="grid shrink-0 grid-cols-[4fr_3fr] gap-x-2 gap-y-1 leading-tight">
          {button}
          <Winners state={state} quizzes={quizzes} isConnected={isConnected} />
          {startDialog}
        </div>
      )}
      {/* Last, so that the next step is the first button of the panel. */}
      <div className="absolute top-0 right-0 min-[90rem]:hidden lg:top-1 lg:right-1">
        <RundownButton state={state} quizzes={quizzes} />
      </div>
    </StagePanel>
  );
  return (
    <>
      {hasEnded ? (
        <EndedPanel
          state={state}
          revealButton={step.kind === 'reveal' && mayPublish ? button : null}
        />
      ) : (
        panel
      )}
      {/* Whatever the step is: an open one has what the host typed. */}
      <Dialog title={texts.next.newQuiz} isOpen={isAdding} onOpenChange={setAdding}>
        {(close) => <NewQuizForm streamId={state.stream.id} onClose={close} />}
      </Dialog>
    </>
  );
}

/** Takes the next step: once, however often the button is pressed. */
function useStep(step: NextStep, state: LiveState, isConnected: boolean) {
  const { canPress, markPressed, resetPress } = usePressGuard(stepKeyOf(step));
  const options = { invalidates: INVALIDATED, onError: retryAfterError(resetPress) };
  const start = useStartShow(state.stream, {
    hasSource: state.source !== null,
    onSend: markPressed,
    onError: options.onError,
  });
  const publish = useApiMutation('publishQuiz', options);
  const reveal = useApiMutation('revealQuiz', options);
  const isPending = start.isPending || publish.isPending || reveal.isPending;
  const run = () => {
    if (step.kind === 'start') return start.start();
    markPressed();
    if (step.kind === 'publish') publish.mutate({ params: { quiz_id: step.quiz.id } });
    if (step.kind === 'reveal') reveal.mutate({ params: { quiz_id: step.quiz.id } });
  };
  const canRun = ['start', 'publish', 'reveal'].includes(step.kind) && canPress && isConnected;
  useCtrlEnter(() => canRun && !isPending && run());
  return { run, canRun, isPending, startDialog: start.dialog };
}

/** The keys of the next step; the button itself names them for screen readers. */
function Keys() {
  return (
    <span aria-hidden="true" className="hidden text-sm text-quiet lg:inline">
      <kbd>{texts.shortcuts.keys.control}</kbd> <kbd>{texts.shortcuts.keys.enter}</kbd>
    </span>
  );
}

function Upcoming({ quiz }: { readonly quiz: StudioQuiz }) {
  return (
    // A long quiz scrolls, so that the button below it stays in place.
    <article
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
      tabIndex={0}
      aria-label={texts.next.quiz}
      className={`grid min-h-0 content-start gap-1 overflow-y-auto rounded-lg -outline-offset-3! ${FOCUS_RING}`}
    >
      <p dir="auto" className="font-bold wrap-anywhere lg:text-lg">
        {quiz.question}
      </p>
      <ul className="flex flex-wrap gap-x-3 text-quiet *:min-w-0">
        {quiz.choices.map((text) => (
          <li key={text} className="wrap-anywhere">
            {text === quiz.answer && '✓ '}
            <bdi>{text}</bdi>
          </li>
        ))}
      </ul>
      <p className="text-sm text-quiet">{texts.next.seconds(quiz.duration / 1_000)}</p>
    </article>
  );
}

/** Shows the error and enables the button again. */
const retryAfterError = (resetPress: () => void) => (error: unknown) => {
  resetPress();
  showError(error);
};

function Winners({ state, quizzes, isConnected }: NextPanelProps) {
  const { canPress, markPressed, resetPress } = usePressGuard(String(state.round?.id));
  const queries = useQueryClient();
  const { mutate, isPending } = useApiMutation('requestWinners', {
    onError: (error) => {
      retryAfterError(resetPress)(error);
      // The reason may be a quiz that another program published, and whose results the host must show first.
      void queries.invalidateQueries({ queryKey: ['listQuizzes'] });
    },
  });
  const blocker = winnersBlocker(state, quizzes);
  const { round } = state;
  return (
    <>
      <Button
        isPending={isPending || round?.state === 'open'}
        isDisabled={blocker !== null || !isConnected || !canPress}
        onPress={() => {
          markPressed();
          mutate({ params: { stream_id: state.stream.id } });
        }}
      >
        {texts.next.announceWinners}
      </Button>
      <p
        className="col-span-2 min-h-4 truncate text-xs text-quiet lg:min-h-5 lg:text-sm/tight"
        aria-live="polite"
      >
        {blocker ??
          (round?.count == null ? texts.next.winnersRule : texts.next.lastRound(round.count))}
      </p>
    </>
  );
}
