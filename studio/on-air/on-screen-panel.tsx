import { intervalStartMs } from '../../protocol/interval.ts';
import type { LiveState } from '../../protocol/live.ts';
import type { ChoiceCount } from '../../protocol/quizzes.ts';
import type { StudioQuiz } from '../../protocol/studio.ts';
import { Badge } from '../ui/badge.tsx';
import { classes } from '../ui/classes.ts';
import { Panel } from '../ui/panel.tsx';

/** The quiz that viewers see, or saw last, with how they answer: that is for the producer alone. */
export function OnScreenPanel({ state }: { readonly state: LiveState }) {
  const { quiz, tally, now } = state;
  if (!quiz) {
    return (
      <Panel title="On screen">
        <p className="text-quiet">No quiz was sent yet.</p>
      </Panel>
    );
  }
  const counts = tally ?? quiz.counts ?? {};
  const answered = Object.values(counts).reduce((sum, { count }) => sum + count, 0);
  return (
    <Panel title="On screen" aside={<QuizState quiz={quiz} nowMs={now} />}>
      <p className="text-lg font-semibold break-words">{quiz.question}</p>
      <ul className="grid gap-2">
        {quiz.choices.map((choice) => (
          <Bar
            key={choice}
            choice={choice}
            isRight={choice === quiz.answer}
            {...(counts[choice] ?? NOBODY)}
          />
        ))}
      </ul>
      <p className="text-quiet tabular-nums">
        {answered.toLocaleString()} {answered === 1 ? 'answer' : 'answers'}
        {quiz.state === 'open' &&
          state.count !== null &&
          ` of ${state.count.toLocaleString()} viewers`}
      </p>
    </Panel>
  );
}

const NOBODY: ChoiceCount = { count: 0, percentage: 0 };

function QuizState({ quiz, nowMs }: { readonly quiz: StudioQuiz; readonly nowMs: number }) {
  if (quiz.state === 'open' && quiz.closeInterval !== null) {
    const leftS = Math.max(0, Math.ceil((intervalStartMs(quiz.closeInterval) - nowMs) / 1_000));
    return <Badge look="live">Open, {leftS} s</Badge>;
  }
  if (quiz.state === 'closed') return <Badge look="accent">Closed, results not shown</Badge>;
  return <Badge look="good">Results are shown</Badge>;
}

interface BarProps extends ChoiceCount {
  readonly choice: string;
  readonly isRight: boolean;
}

function Bar({ choice, isRight, count, percentage }: BarProps) {
  return (
    <li className="relative grid min-h-11 content-center overflow-hidden rounded-lg bg-raised px-3 py-2">
      <span
        aria-hidden="true"
        className={classes(
          'absolute inset-y-0 left-0 motion-safe:transition-[width] motion-safe:duration-500',
          isRight ? 'bg-good-soft' : 'bg-accent-soft',
        )}
        style={{ width: `${percentage}%` }}
      />
      <span className="relative flex items-baseline justify-between gap-3">
        <span className="min-w-0 font-semibold break-words">
          {choice}
          {isRight && <span className="text-good"> ✓ right</span>}
        </span>
        <span className="shrink-0 tabular-nums">
          {count.toLocaleString()} · {percentage} %
        </span>
      </span>
    </li>
  );
}
