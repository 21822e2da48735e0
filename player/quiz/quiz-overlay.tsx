import { useState } from 'react';
import { useRemainingMs } from '../../sdk/react.ts';
import type { Snapshot, Viewer, ViewerQuiz } from '../../sdk/viewer.ts';
import { QuizCard } from './quiz-card.tsx';
import { winnerWords } from './quiz-words.ts';
import { useQuizVoice } from './use-quiz-voice.ts';
import { useWinnersMoment } from './use-winners-moment.ts';
import { useWithoutPassed } from './use-without-passed.ts';
import { WinnersCard } from './winners-card.tsx';

/** The quiz on screen and the winners, over the picture; on phones a sheet from the bottom. */
export function QuizOverlay({
  viewer,
  snapshot: { state, quiz: newest, winners: known },
}: {
  readonly viewer: Viewer;
  readonly snapshot: Snapshot;
}) {
  // It renders this again while time runs; of a quiz that has just come it knows only afterwards.
  useRemainingMs(viewer);
  const remainingMs = viewer.remainingMs();
  const told = useWithoutPassed(viewer, newest);
  const isOver = state === 'ended';
  // Of a game that is seen again there is nothing more to win.
  const winners = isOver ? { ...known, isWinning: null } : known;
  const [moment, endMoment] = useWinnersMoment(viewer);
  // Results make way for the winners; a quiz that runs does not.
  const isMoment = moment !== null && (told === null || told.results !== null);
  const quiz = useWithoutOldResults(told, isMoment);
  const voice = useQuizVoice({ quiz, remainingMs, winners, isOver });
  const hasWon = isMoment && moment.count !== null && winners.hasWon;
  const words = isMoment ? winnerWords(moment.count, hasWon, isOver) : null;
  return (
    <>
      <p className="unseen" aria-live="assertive">
        {words ? `${words.title} ${words.more}`.trim() : quiz && voice.words}
      </p>
      {/* It waits until all of the question is read out. */}
      <p className="unseen" role="status">
        {!words && quiz && voice.warning}
      </p>
      {words ? (
        <WinnersCard words={words} hasWon={hasWon} onClose={endMoment} />
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

/** @returns the quiz; null when its results have made way for winners: they do not come back */
function useWithoutOldResults(quiz: ViewerQuiz | null, isMoment: boolean): ViewerQuiz | null {
  const [oldId, setOldId] = useState<string | null>(null);
  const resultsId = quiz?.results?.id ?? null;
  // Who goes back to the quiz sees its results again.
  const nextId = resultsId !== null && !isMoment ? oldId : resultsId;
  if (nextId !== oldId) setOldId(nextId);
  return resultsId !== null && resultsId === nextId ? null : quiz;
}
