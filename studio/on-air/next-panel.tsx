import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { usePermission } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';
import { quantity } from '../ui/quantity.ts';
import { showError } from '../ui/toasts.tsx';
import { AddQuiz } from './add-quiz.tsx';
import { EndedPanel } from './ended-panel.tsx';
import { nextStep, stepKeyOf, winnersBlocker } from './next-step.ts';
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
  const { canPress, markPressed, resetPress } = usePressGuard(stepKeyOf(step));
  const mayPublish = usePermission('publishQuiz');
  const options = { invalidates: INVALIDATED, onError: retryAfterError(resetPress) };
  const start = useApiMutation('startStream', options);
  const publish = useApiMutation('publishQuiz', options);
  const reveal = useApiMutation('revealQuiz', options);
  const isPending = start.isPending || publish.isPending || reveal.isPending;
  const run = () => {
    markPressed();
    if (step.kind === 'start') start.mutate({ params: { stream_id: state.stream.id } });
    if (step.kind === 'publish') publish.mutate({ params: { quiz_id: step.quiz.id } });
    if (step.kind === 'reveal') reveal.mutate({ params: { quiz_id: step.quiz.id } });
  };
  const canRun = ['start', 'publish', 'reveal'].includes(step.kind) && canPress && isConnected;
  useCtrlEnter(() => canRun && !isPending && run());
  if (step.kind === 'over') return <EndedPanel stream={state.stream} />;
  return (
    <Panel title="Next">
      {'quiz' in step && step.kind !== 'wait' && <Upcoming quiz={step.quiz} />}
      {step.kind === 'nothing' && mayPublish && (
        <>
          <p className="font-semibold">{LABELS.nothing}</p>
          <AddQuiz streamId={state.stream.id} />
        </>
      )}
      {mayPublish && step.kind !== 'nothing' && (
        <Button
          variant="primary"
          size="big"
          isWide
          isPending={isPending}
          isDisabled={!canRun}
          onPress={run}
          aria-keyshortcuts="Control+Enter"
        >
          {step.kind === 'start' && state.source ? 'Go live' : LABELS[step.kind]}
        </Button>
      )}
      {!mayPublish && <p className="font-semibold">{LABELS[step.kind]}</p>}
      {mayPublish && step.kind !== 'nothing' && (
        <p className="text-sm text-quiet">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> presses this button from anywhere on the page.
        </p>
      )}
      {mayPublish && <Winners state={state} isConnected={isConnected} />}
    </Panel>
  );
}

const LABELS = {
  start: 'Start the show',
  publish: 'Send this quiz',
  wait: 'Quiz in progress',
  reveal: 'Show the results',
  nothing: 'No more quizzes',
} as const;

function Upcoming({ quiz }: { readonly quiz: StudioQuiz }) {
  return (
    <div className="grid gap-2">
      {/* A long quiz scrolls, so that the button below it stays in place. */}
      <article
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        aria-label="Next quiz"
        className={`grid max-h-[min(12rem,28dvh)] gap-2 overflow-y-auto ${FOCUS_RING}`}
      >
        <p dir="auto" className="text-xl font-bold wrap-anywhere">
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
      </article>
      <p className="text-sm text-quiet">{quiz.duration / 1_000} seconds</p>
    </div>
  );
}

/** Shows the error and enables the button again. */
const retryAfterError = (resetPress: () => void) => (error: unknown) => {
  resetPress();
  showError(error);
};

function Winners({ state, isConnected }: Pick<NextPanelProps, 'state' | 'isConnected'>) {
  const { canPress, markPressed, resetPress } = usePressGuard(String(state.round?.id));
  const { mutate, isPending } = useApiMutation('requestWinners', {
    onError: retryAfterError(resetPress),
  });
  const blocker = winnersBlocker(state);
  const { round } = state;
  return (
    <div className="grid gap-2 border-t border-line pt-4">
      <Button
        isPending={isPending || round?.state === 'open'}
        isDisabled={blocker !== null || !isConnected || !canPress}
        onPress={() => {
          markPressed();
          mutate({ params: { stream_id: state.stream.id } });
        }}
      >
        Announce the winners
      </Button>
      <p className="text-sm text-quiet" aria-live="polite">
        {blocker ??
          (round?.count == null
            ? 'Winners answered every quiz since the last round correctly.'
            : `The last round had ${quantity(round.count, 'winner')}.`)}
      </p>
    </div>
  );
}
