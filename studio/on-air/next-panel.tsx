import type { LiveState } from '../../protocol/live.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { useWrite } from '../api/use-write.ts';
import { useMay } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { Panel } from '../ui/panel.tsx';
import { tellFailure } from '../ui/toasts.tsx';
import { type NextStep, nameOf, nextStep, winnersBlocker } from './next-step.ts';
import { OverPanel } from './over-panel.tsx';
import { useOnce } from './use-armed.ts';
import { useCtrlEnter } from './use-ctrl-enter.ts';

interface NextPanelProps {
  readonly state: LiveState;
  readonly quizzes: readonly StudioQuiz[];
  /** What is shown is how it is; else nothing can be pressed. */
  readonly isHeard: boolean;
}

const STALE = ['listQuizzes', 'readOwnStream'] as const;

/** What comes next, as one button. */
export function NextPanel({ state, quizzes, isHeard }: NextPanelProps) {
  const step = nextStep(state, quizzes);
  const { canPress, spend, giveBack } = useOnce(nameOf(step));
  const mayPublish = useMay('publishQuiz');
  const options = { stale: STALE, onFailure: failing(giveBack) };
  const start = useWrite('startStream', options);
  const publish = useWrite('publishQuiz', options);
  const reveal = useWrite('revealQuiz', options);
  const isPending = start.isPending || publish.isPending || reveal.isPending;
  const doIt = () => {
    spend();
    if (step.kind === 'start') start.write({ params: { stream_id: state.stream.id } });
    if (step.kind === 'publish') publish.write({ params: { quiz_id: step.quiz.id } });
    if (step.kind === 'reveal') reveal.write({ params: { quiz_id: step.quiz.id } });
  };
  const canDo = ['start', 'publish', 'reveal'].includes(step.kind) && canPress && isHeard;
  useCtrlEnter(() => canDo && !isPending && doIt());
  if (step.kind === 'over') return <OverPanel stream={state.stream} />;
  return (
    <Panel title="Next">
      {'quiz' in step && step.kind !== 'wait' && <Upcoming quiz={step.quiz} />}
      {mayPublish ? (
        <Button
          look="primary"
          size="big"
          isWide
          isPending={isPending}
          isDisabled={!canDo}
          onPress={doIt}
          aria-keyshortcuts="Control+Enter"
        >
          {wordsOf(step)}
        </Button>
      ) : (
        <p className="font-semibold">{wordsOf(step)}</p>
      )}
      {mayPublish && (
        <p className="text-sm text-quiet">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> presses it from anywhere on this page.
        </p>
      )}
      {mayPublish && <Winners state={state} isHeard={isHeard} />}
    </Panel>
  );
}

function wordsOf(step: Exclude<NextStep, { kind: 'over' }>): string {
  switch (step.kind) {
    case 'start':
      return 'Start the show';
    case 'publish':
      return 'Send this quiz';
    case 'wait':
      return 'A quiz is open';
    case 'reveal':
      return 'Show the results';
    case 'nothing':
      return 'No quiz is prepared';
  }
}

function Upcoming({ quiz }: { readonly quiz: StudioQuiz }) {
  return (
    <div className="grid gap-2">
      <p className="text-xl font-bold break-words">{quiz.question}</p>
      <p className="text-quiet break-words">
        {quiz.choices
          .map((choice) => (choice === quiz.answer ? `✓ ${choice}` : choice))
          .join(' · ')}
      </p>
      <p className="text-sm text-quiet">{quiz.duration / 1_000} seconds</p>
    </div>
  );
}

/** Says what did not work, and that it may be pressed again. */
const failing = (giveBack: () => void) => (error: unknown) => {
  giveBack();
  tellFailure(error);
};

function Winners({ state, isHeard }: Pick<NextPanelProps, 'state' | 'isHeard'>) {
  const { canPress, spend, giveBack } = useOnce(String(state.round?.id));
  const { write, isPending } = useWrite('requestWinners', { onFailure: failing(giveBack) });
  const blocker = winnersBlocker(state);
  const { round } = state;
  return (
    <div className="grid gap-2 border-t border-line pt-4">
      <Button
        isPending={isPending || round?.state === 'open'}
        isDisabled={blocker !== null || !isHeard || !canPress}
        onPress={() => {
          spend();
          write({ params: { stream_id: state.stream.id } });
        }}
      >
        Ask for the winners
      </Button>
      <p className="text-sm text-quiet" aria-live="polite">
        {blocker ??
          (round?.count == null
            ? 'Those who answered everything since the last round.'
            : `The last round had ${round.count} ${round.count === 1 ? 'winner' : 'winners'}.`)}
      </p>
    </div>
  );
}
