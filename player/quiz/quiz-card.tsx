import { type RefObject, useId, useRef, useState } from 'react';
import type { Viewer, ViewerQuiz, Winners } from '../../sdk/viewer.ts';
import { Icon, type IconName } from '../icon.tsx';
import { texts } from '../texts.ts';
import { CountdownRing } from './countdown-ring.tsx';
import { MoreBelow } from './more-below.tsx';
import { choiceOfKey, QuizChoices } from './quiz-choices.tsx';
import { QuizResultsList } from './quiz-results-list.tsx';
import { phaseOf, type QuizPhase, type QuizStatus, quizStatus, roundText } from './quiz-text.ts';
import { useAboveCompose } from './use-above-compose.ts';
import { useHaptics } from './use-haptics.ts';
import { useTemporaryFocus } from './use-temporary-focus.ts';

interface QuizCardProps {
  readonly viewer: Viewer;
  readonly quiz: ViewerQuiz;
  readonly winners: Winners;
  readonly remainingMs: number;
  /** Whether the show is over. */
  readonly isOver: boolean;
}

/** A quiz, from its question to its results. The viewer can collapse it. */
export function QuizCard({ viewer, quiz, winners, remainingMs, isOver }: QuizCardProps) {
  const card = useRef<HTMLElement>(null);
  const [isCollapsed, setIsCollapsed] = useState(false);
  const { isAbove, onMouseDown } = useAboveCompose(card);
  const [isRejected, setIsRejected] = useState(false);
  const phase = phaseOf(quiz, remainingMs, isOver);
  useTemporaryFocus(card, `${phase === 'revealed'} ${isCollapsed}`);
  const { order, duration } = quiz.quiz;
  const status: QuizStatus =
    isRejected && phase === 'open'
      ? { tone: 'bad', text: texts.quiz.rejected }
      : quizStatus(quiz, phase);
  useHaptics(isOver ? null : momentOf(phase, status));

  const choose = (choice: string) => {
    setIsRejected(false);
    viewer.answer(choice).catch(() => setIsRejected(true));
  };
  return (
    <section
      ref={card}
      className={classOf(isCollapsed, isAbove)}
      data-phase={phase}
      aria-label={texts.quiz.label}
      tabIndex={-1}
      onMouseDown={onMouseDown}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !isCollapsed) {
          // Escape collapses only the card, it does not leave the full window.
          event.preventDefault();
          setIsCollapsed(true);
        }
        const choice = phase === 'open' && !isCollapsed ? choiceOfKey(event, order) : null;
        if (choice !== null) choose(choice);
      }}
    >
      <QuizHead
        phase={phase}
        status={status}
        isCollapsed={isCollapsed}
        remainingMs={remainingMs}
        durationMs={duration}
        onToggle={() => setIsCollapsed(!isCollapsed)}
      />
      {!isCollapsed && (
        <QuizBody card={card} quiz={quiz} winners={winners} phase={phase} onChoose={choose} />
      )}
    </section>
  );
}

interface QuizHeadProps {
  readonly phase: QuizPhase;
  readonly status: QuizStatus;
  readonly isCollapsed: boolean;
  readonly remainingMs: number;
  readonly durationMs: number;
  onToggle(): void;
}

/** The countdown or a mark, the status, and the button that collapses the card. */
function QuizHead(props: QuizHeadProps) {
  const { phase, status, isCollapsed, remainingMs, durationMs, onToggle } = props;
  return (
    <header className="quiz-head">
      {phase === 'open' || phase === 'answered' ? (
        <CountdownRing remainingMs={remainingMs} durationMs={durationMs} />
      ) : (
        <span className={`quiz-mark quiz-mark--${status.tone}`}>
          <Icon name={markOf(phase, status)} />
        </span>
      )}
      <p className={`quiz-status quiz-status--${status.tone}`}>
        <span className="quiz-phase">{texts.quiz.phases[phase]}</span>
        <span className={isCollapsed ? 'unseen' : ''}>{status.text}</span>
      </p>
      <button type="button" className="quiz-button" aria-expanded={!isCollapsed} onClick={onToggle}>
        {isCollapsed ? texts.quiz.show : texts.quiz.hide}
        <span className="unseen"> {texts.quiz.theQuiz}</span>
      </button>
    </header>
  );
}

/** A longer question is set in a smaller font. */
const LONG_QUESTION_CHARS = 120;

interface QuizBodyProps {
  /** The card, which scrolls. */
  readonly card: RefObject<HTMLElement | null>;
  readonly quiz: ViewerQuiz;
  readonly winners: Winners;
  readonly phase: QuizPhase;
  onChoose(choice: string): void;
}

/** The question with its choices or results. */
function QuizBody({ card, quiz, winners, phase, onChoose }: QuizBodyProps) {
  const questionId = useId();
  const { question, order } = quiz.quiz;
  const isLong = question.length > LONG_QUESTION_CHARS;
  const round = phase === 'revealed' ? roundText(winners) : null;
  return (
    <>
      <h2
        className={`quiz-question${isLong ? ' quiz-question--long' : ''}`}
        id={questionId}
        dir="auto"
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
          onChoose={onChoose}
        />
      )}
      {round && <p className="quiz-round">{round}</p>}
      <MoreBelow
        container={card}
        label={quiz.results ? texts.quiz.moreResults : texts.quiz.moreChoices}
      />
    </>
  );
}

function classOf(isCollapsed: boolean, isAbove: boolean): string {
  if (isCollapsed) return 'quiz quiz--collapsed';
  return isAbove ? 'quiz quiz--above-compose' : 'quiz';
}

/** The moment of a live quiz that a phone lets the viewer feel. */
function momentOf(
  phase: QuizPhase,
  { tone }: QuizStatus,
): 'opened' | 'answered' | 'correct' | null {
  if (phase === 'open') return 'opened';
  if (phase === 'answered') return 'answered';
  return phase === 'revealed' && tone === 'good' ? 'correct' : null;
}

function markOf(phase: QuizPhase, { tone }: QuizStatus): IconName {
  if (phase !== 'revealed' || tone === 'plain') return 'lock';
  return tone === 'good' ? 'right' : 'wrong';
}
