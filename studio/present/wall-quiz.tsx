import { Check, Lock } from 'lucide-react';
import type { CSSProperties } from 'react';
import type { PresenterQuiz } from '../../protocol/presenter.ts';
import { WallRing } from './wall-ring.tsx';

interface WallQuizProps {
  readonly quiz: PresenterQuiz;
  readonly remainingMs: number;
  /** How viewers answer is shown before the results. */
  readonly hasLiveBars: boolean;
}

/** A quiz from its question to its results. */
export function WallQuiz({ quiz, remainingMs, hasLiveBars }: WallQuizProps) {
  const { question, order, duration, results, tally } = quiz;
  const counts = results?.choices ?? (hasLiveBars ? tally : null);
  return (
    <>
      <div className="asked">
        <h1 className="question">{question}</h1>
        {remainingMs > 0 ? (
          <WallRing remainingMs={remainingMs} durationMs={duration} />
        ) : (
          !results && (
            <p className="time-up">
              <Lock aria-hidden="true" />
              Time is up
            </p>
          )
        )}
      </div>
      <ol className="choices" data-few={order.length <= 3 || undefined}>
        {order.map((choice, at) => (
          <Choice
            key={choice}
            choice={choice}
            number={at + 1}
            isRight={results ? choice === results.answer : null}
            percentage={counts ? (counts[choice]?.percentage ?? 0) : null}
          />
        ))}
      </ol>
    </>
  );
}

interface ChoiceProps {
  readonly choice: string;
  readonly number: number;
  /** null: it is not known yet. */
  readonly isRight: boolean | null;
  /** null: there is no bar. */
  readonly percentage: number | null;
}

const LOOKS = { null: '', true: ' choice--right', false: ' choice--wrong' };

function Choice({ choice, number, isRight, percentage }: ChoiceProps) {
  return (
    <li
      className={`choice${LOOKS[`${isRight}`]}`}
      style={{ '--percent': percentage ?? 0 } as CSSProperties}
    >
      <span className="choice-bar" />
      <span className="choice-number">{isRight ? <Check aria-hidden="true" /> : number}</span>
      <span className="choice-text">
        {choice}
        {isRight && <span className="unseen"> (right)</span>}
      </span>
      {percentage !== null && <span className="choice-share">{percentage} %</span>}
    </li>
  );
}
