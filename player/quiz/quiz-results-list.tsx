import type { CSSProperties } from 'react';
import type { QuizResults } from '../../sdk/types.ts';
import { compact } from '../compact-number.ts';
import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';

interface QuizResultsListProps {
  readonly results: QuizResults;
  readonly choice: string | null;
}

/** The share of each choice, and which one is correct. */
export function QuizResultsList({ results, choice }: QuizResultsListProps) {
  return (
    <ul className="quiz-choices">
      {results.order.map((text) => {
        const { percentage, count } = results.choices[text] ?? { percentage: 0, count: 0 };
        const isCorrect = text === results.answer;
        const isOwn = text === choice;
        return (
          <li
            key={text}
            className={`quiz-result${isCorrect ? ' quiz-result--correct' : ''}${isOwn ? ' quiz-result--own' : ''}`}
            style={{ '--percent': percentage } as CSSProperties}
          >
            <span className="quiz-bar" />
            <span className="quiz-number">
              {isCorrect ? <Icon name="right" /> : isOwn && <Icon name="wrong" />}
            </span>
            <span className="quiz-choice-text">
              <span className="quiz-result-text" dir="auto">
                {text}
              </span>
              <span className="quiz-tags">
                {[isCorrect && texts.quiz.correctChoice, isOwn && texts.quiz.ownChoice]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </span>
            <span className="quiz-share">
              <span className="quiz-percent" aria-hidden="true" />
              <span className="unseen">{texts.quiz.percent(percentage)} </span>
              <span className="quiz-count">
                {compact(count)}
                <span className="unseen"> {texts.quiz.answers(count)}</span>
              </span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}
