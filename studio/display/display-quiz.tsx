import { Check, Lock } from 'lucide-react';
import type { CSSProperties } from 'react';
import type { PresenterQuiz } from '../../protocol/presenter.ts';
import { texts } from './texts.ts';

interface DisplayQuizProps {
  readonly quiz: PresenterQuiz;
  readonly remainingMs: number;
  /** Answer counts are visible before the results. */
  readonly hasLiveBars: boolean;
}

/** A quiz, from the question to the results. */
export function DisplayQuiz({ quiz, remainingMs, hasLiveBars }: DisplayQuizProps) {
  const { question, order, duration, results, tally } = quiz;
  const counts = results?.choices ?? (hasLiveBars ? tally : null);
  return (
    <>
      <div className="asked">
        <h1 className="question" dir="auto">
          {question}
        </h1>
        {remainingMs > 0 ? (
          <CountdownRing remainingMs={remainingMs} durationMs={duration} />
        ) : (
          !results && (
            <p className="time-up">
              <Lock />
              {texts.quiz.timeIsUp}
            </p>
          )
        )}
      </div>
      <ol className="choices" data-few={order.length <= 3 || undefined}>
        {order.map((choice, index) => (
          <Choice
            key={choice}
            choice={choice}
            number={index + 1}
            isCorrect={results ? choice === results.answer : null}
            percentage={counts ? (counts[choice]?.percentage ?? 0) : null}
          />
        ))}
      </ol>
    </>
  );
}

/** With less time left, the ring changes its color. */
const SHORT_MS = 5_000;

/** The time left to answer: seconds as a number, the share as a ring. */
function CountdownRing({ remainingMs, durationMs }: { remainingMs: number; durationMs: number }) {
  const share = Math.min(1, remainingMs / durationMs);
  return (
    <div
      className={remainingMs <= SHORT_MS ? 'ring ring--short' : 'ring'}
      role="timer"
      style={{ '--share': share } as CSSProperties}
    >
      <span className="ring-seconds">{Math.ceil(remainingMs / 1_000)}</span>
      <span className="unseen"> {texts.quiz.secondsLeft}</span>
    </div>
  );
}

interface ChoiceProps {
  readonly choice: string;
  readonly number: number;
  /** null: not known yet. */
  readonly isCorrect: boolean | null;
  /** null: no bar. */
  readonly percentage: number | null;
}

const MODIFIERS = { null: '', true: ' choice--correct', false: ' choice--wrong' };

function Choice({ choice, number, isCorrect, percentage }: ChoiceProps) {
  return (
    <li
      className={`choice${MODIFIERS[`${isCorrect}`]}`}
      style={{ '--percent': percentage ?? 0 } as CSSProperties}
    >
      <span className="choice-bar" />
      <span className="choice-number">{isCorrect ? <Check /> : number}</span>
      <span className="choice-text" dir="auto">
        {choice}
      </span>
      {isCorrect && <span className="unseen"> {texts.quiz.correct}</span>}
      {percentage !== null && (
        <span className="choice-share">{texts.quiz.percent(percentage)}</span>
      )}
    </li>
  );
}
