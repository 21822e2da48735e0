import { useId, useRef, useState } from 'react';
import type { Viewer, ViewerQuiz, Winners } from '../../sdk/viewer.ts';
import { Icon, type IconName } from '../icon.tsx';
import { choiceOfKey } from './choice-keys.ts';
import { CountdownRing } from './countdown-ring.tsx';
import { QuizChoices } from './quiz-choices.tsx';
import { QuizResultsList } from './quiz-results-list.tsx';
import { gameWords, phaseOf, type QuizPhase, type Standing, standingOf } from './quiz-words.ts';
import { useBorrowedFocus } from './use-borrowed-focus.ts';
import { useMakingWay } from './use-making-way.ts';

interface QuizCardProps {
  readonly viewer: Viewer;
  readonly quiz: ViewerQuiz;
  readonly winners: Winners;
  readonly remainingMs: number;
  /** Whether the show is over. */
  readonly isOver: boolean;
}

/** Of a question: more is set smaller. */
const LONG_CHARS = 120;

const PHASE_TITLES: Record<QuizPhase, string> = {
  open: 'Quiz',
  answered: 'Quiz',
  closed: 'Time is up',
  replayed: 'Quiz',
  revealed: 'Results',
};

/** A quiz, from its question to its results. It can be put aside, and what is below it pressed. */
export function QuizCard({ viewer, quiz, winners, remainingMs, isOver }: QuizCardProps) {
  const place = useRef<HTMLElement>(null);
  const questionId = useId();
  const [isHidden, setIsHidden] = useState(false);
  const [isMakingWay, endMakingWay] = useMakingWay(place);
  const isAside = isHidden || isMakingWay;
  const [isNotTaken, setIsNotTaken] = useState(false);
  const phase = phaseOf(quiz, remainingMs, isOver);
  useBorrowedFocus(place, `${phase === 'revealed'} ${isAside}`);
  const { question, order, duration } = quiz.quiz;
  const standing: Standing =
    isNotTaken && phase === 'open'
      ? { tone: 'bad', words: 'Your choice was not taken. Please choose again.' }
      : standingOf(quiz, phase);
  const game = phase === 'revealed' ? gameWords(winners) : null;

  const choose = (choice: string) => {
    setIsNotTaken(false);
    viewer.answer(choice).catch(() => setIsNotTaken(true));
  };

  return (
    <section
      ref={place}
      className={isAside ? 'quiz quiz--aside' : 'quiz'}
      data-phase={phase}
      aria-label="Quiz"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !isAside) {
          // It puts this aside, and ends nothing that this is in.
          event.preventDefault();
          setIsHidden(true);
        }
        const choice = phase === 'open' && !isAside ? choiceOfKey(event, order) : null;
        if (choice !== null) choose(choice);
      }}
    >
      <header className="quiz-head">
        {phase === 'open' || phase === 'answered' ? (
          <CountdownRing remainingMs={remainingMs} durationMs={duration} />
        ) : (
          <span className={`quiz-mark quiz-mark--${standing.tone}`}>
            <Icon name={markOf(phase, standing)} />
          </span>
        )}
        <p className={`quiz-standing quiz-standing--${standing.tone}`}>
          <span className="quiz-phase">{PHASE_TITLES[phase]}</span>
          <span className={isAside ? 'unseen' : ''}>{standing.words}</span>
        </p>
        <button
          type="button"
          className="quiz-button"
          aria-expanded={!isAside}
          onClick={(event) => {
            // Not every browser does so: but who sees the quiz no longer writes.
            event.currentTarget.focus();
            endMakingWay();
            setIsHidden(!isAside);
          }}
        >
          {isAside ? 'Show' : 'Hide'}
          <span className="unseen"> the quiz</span>
        </button>
      </header>
      {!isAside && (
        <>
          <h2
            className={
              question.length > LONG_CHARS ? 'quiz-question quiz-question--long' : 'quiz-question'
            }
            id={questionId}
          >
            {question}
          </h2>
          {quiz.results ? (
            <QuizResultsList results={quiz.results} choice={quiz.choice} />
          ) : (
            <QuizChoices
              order={order}
              labelledBy={questionId}
              choice={quiz.choice}
              isOpen={phase === 'open'}
              onChoose={choose}
            />
          )}
          {game && <p className="quiz-game">{game}</p>}
        </>
      )}
    </section>
  );
}

function markOf(phase: QuizPhase, { tone }: Standing): IconName {
  if (phase !== 'revealed' || tone === 'plain') return 'lock';
  return tone === 'good' ? 'right' : 'wrong';
}
