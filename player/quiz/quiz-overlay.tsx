import { useEffect, useState } from 'react';
import { useRemainingMs } from '../../sdk/react.ts';
import type { Snapshot, Viewer, ViewerQuiz } from '../../sdk/viewer.ts';
import { useCues } from '../sound/sounds.ts';
import { texts } from '../texts.ts';
import { QuizCard } from './quiz-card.tsx';
import { winnersText } from './quiz-text.ts';
import { useQuizAnnouncements } from './use-quiz-announcements.ts';
import type { ShownRound } from './use-shown-round.ts';
import { WinnersCard } from './winners-card.tsx';

interface QuizOverlayProps {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
  /** Null: no winners are shown. */
  readonly round: ShownRound | null;
  /** The code under which the host knows this viewer as a winner; null: not known. */
  readonly winnerCode: string | null;
  onCloseRound(): void;
}

/** The current quiz or the winners, over the video; on phones a sheet at the bottom. */
export function QuizOverlay(props: QuizOverlayProps) {
  const { viewer, snapshot, round } = props;
  const { state, quiz: latest, winners: viewerWinners } = snapshot;
  // Rerenders the overlay as time passes. The value lags behind for a new quiz, so read it anew.
  useRemainingMs(viewer);
  const remainingMs = viewer.remainingMs();
  const current = useWithoutMissedQuiz(viewer, latest);
  const isOver = state === 'ended';
  // Nothing can be won in a replay.
  const winners = isOver ? { ...viewerWinners, isWinning: null } : viewerWinners;
  // Winners replace results, but not a quiz without results.
  const showsRound = round !== null && (current === null || current.results !== null);
  const quiz = useWithoutReplacedResults(current, showsRound);
  const { announcement, warning } = useQuizAnnouncements({ quiz, remainingMs, winners, isOver });
  const hasWon = showsRound && round.count !== null && winners.hasWon;
  const code = hasWon ? props.winnerCode : null;
  useCues(
    isOver
      ? null
      : {
          quizId: quiz?.quiz.id ?? null,
          remainingS: quiz?.results ? 0 : Math.ceil(remainingMs / 1_000),
          hasWinners: showsRound && Boolean(round.count),
        },
  );
  const text = showsRound ? winnersText(round.count, hasWon, isOver) : null;
  return (
    <>
      <p className="unseen" aria-live="assertive">
        {text
          ? `${text.title} ${text.more} ${code === null ? '' : `${texts.winners.code} ${code}`}`.trim()
          : quiz && announcement}
      </p>
      {/* Does not interrupt the question. */}
      <p className="unseen" role="status">
        {!text && quiz && warning}
      </p>
      {text ? (
        <WinnersCard text={text} hasWon={hasWon} code={code} onClose={props.onCloseRound} />
      ) : (
        quiz && (
          <QuizCard
            key={quiz.quiz.id}
            viewer={viewer}
            quiz={quiz}
            winners={winners}
            remainingMs={remainingMs}
            isOver={isOver}
          />
        )
      )}
    </>
  );
}

/** @returns the quiz; null when the video jumped past its close, so that no results will come */
function useWithoutMissedQuiz(viewer: Viewer, quiz: ViewerQuiz | null): ViewerQuiz | null {
  const [jumpedTo, setJumpedTo] = useState(0);
  useEffect(() => viewer.on('jump', ({ interval }) => setJumpedTo(interval)), [viewer]);
  return quiz && !quiz.results && quiz.quiz.closeInterval <= jumpedTo ? null : quiz;
}

/** @returns the quiz; null when winners have replaced its results, also after those are closed */
function useWithoutReplacedResults(quiz: ViewerQuiz | null, showsRound: boolean) {
  const [replacedId, setReplacedId] = useState<string | null>(null);
  const resultsId = quiz?.results?.id ?? null;
  // A viewer who seeks back to the quiz gets its results again.
  const nextId = resultsId !== null && !showsRound ? replacedId : resultsId;
  if (nextId !== replacedId) setReplacedId(nextId);
  return resultsId !== null && resultsId === nextId ? null : quiz;
}
