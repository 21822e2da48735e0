import type { ChoiceCount } from '../../protocol/quizzes.ts';
import { classes } from './classes.ts';
import { texts } from './texts.ts';

interface ChoiceBarsProps {
  /** In the producer's order. */
  readonly choices: readonly string[];
  readonly answer: string;
  /** By the text of the choice; a missing choice has no answers. */
  readonly counts: Readonly<Record<string, ChoiceCount>>;
  /** Low bars, where room is scarce. */
  readonly isCompact?: boolean;
}

/** The choices of a quiz with their answer counts as bars. */
export function ChoiceBars({ choices, answer, counts, isCompact = false }: ChoiceBarsProps) {
  return (
    <ul className={classes('grid', isCompact ? 'gap-1' : 'gap-2')}>
      {choices.map((choice) => (
        <Bar
          key={choice}
          choice={choice}
          isCorrect={choice === answer}
          isCompact={isCompact}
          {...(counts[choice] ?? NO_ANSWERS)}
        />
      ))}
    </ul>
  );
}

const NO_ANSWERS: ChoiceCount = { count: 0, percentage: 0 };

interface BarProps extends ChoiceCount {
  readonly choice: string;
  readonly isCorrect: boolean;
  readonly isCompact: boolean;
}

function Bar({ choice, isCorrect, isCompact, count, percentage }: BarProps) {
  return (
    <li
      className={classes(
        'relative grid content-center overflow-hidden rounded-lg bg-raised px-3',
        isCompact ? 'min-h-7 py-0.5' : 'min-h-11 py-2',
      )}
    >
      <span
        aria-hidden="true"
        className={classes(
          'absolute inset-y-0 left-0 print-exact motion-safe:transition-[width] motion-safe:duration-500',
          isCorrect ? 'bg-good-soft' : 'bg-accent-soft',
        )}
        style={{ width: `${percentage}%` }}
      />
      <span className="relative flex items-baseline justify-between gap-3">
        <span className="min-w-0 font-semibold wrap-anywhere">
          <bdi>{choice}</bdi>
          {isCorrect && <span className="text-good"> {texts.correctChoice}</span>}
        </span>
        <span className="shrink-0 tabular-nums">
          {count.toLocaleString()} · {percentage} %
        </span>
      </span>
    </li>
  );
}
