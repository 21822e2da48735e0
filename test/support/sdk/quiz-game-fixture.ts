import { QuizGame } from '../../../sdk/quiz-game.ts';
import type { Quiz, QuizResults, StreamEvent } from '../../../sdk/types.ts';

export const FIRST_INTERVAL = 7_040_000_000;

export function createQuiz(id: string, interval: number): Quiz {
  const none = { count: 0, percentage: 0 };
  return {
    id,
    streamId: 'stream',
    created: interval * 250,
    duration: 5_000,
    closeInterval: interval + 20,
    question: 'Which planet is the largest?',
    choices: { Mars: none, Jupiter: none },
    order: ['Mars', 'Jupiter'],
  };
}
export const createResults = (quiz: Quiz, answer = 'Jupiter'): QuizResults => ({ ...quiz, answer });

/** A game, with functions to feed it; positions are intervals after the first one. */
export function createGameFixture({ isBeginning = true, saved = null as string | null } = {}) {
  const quizGame = new QuizGame(saved);
  let next = FIRST_INTERVAL;
  const publish = (at: number, ...events: StreamEvent[]) => {
    for (; next < FIRST_INTERVAL + at; next++) {
      quizGame.receive({ interval: next, events: [] }, isBeginning);
    }
    quizGame.receive({ interval: next++, events }, isBeginning);
  };
  /** Sets the answer to the quiz on screen. */
  const update = (changes: Parameters<QuizGame['update']>[1]) => {
    const shown = quizGame.quizAt(next - 1);
    if (shown) quizGame.update(shown.quiz, changes);
  };
  /** Publishes a quiz, answers it and publishes its results 20 intervals later. */
  const play = (id: string, at: number, choice: string | null) => {
    const publishedQuiz = createQuiz(id, FIRST_INTERVAL + at);
    publish(at, { type: 'quiz', data: publishedQuiz });
    if (choice !== null) {
      update({ choice });
      update({ outcome: 'counted' });
    }
    publish(at + 20, { type: 'quiz-results', data: createResults(publishedQuiz) });
  };
  return { quizGame, publish, update, play, skipTo: (at: number) => (next = FIRST_INTERVAL + at) };
}

export const REQUEST_WINNERS = { type: 'request-quiz-winners', data: null };
export const quizWinners = (count: number) => ({ type: 'quiz-winners', data: { count } });
