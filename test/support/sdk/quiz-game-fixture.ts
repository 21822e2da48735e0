import { QuizGame } from '../../../sdk/quiz-game.ts';
import type { Quiz, QuizResults, StreamEvent } from '../../../sdk/types.ts';

export const FIRST = 7_040_000_000;

export function quiz(id: string, at: number): Quiz {
  const none = { count: 0, percentage: 0 };
  return {
    id,
    streamId: 'stream',
    created: at * 250,
    duration: 5_000,
    closeInterval: at + 20,
    question: 'Which planet is the largest?',
    choices: { Mars: none, Jupiter: none },
    order: ['Mars', 'Jupiter'],
  };
}
export const results = (of: Quiz, answer = 'Jupiter'): QuizResults => ({ ...of, answer });

/** A game that events are told to, so many intervals after the first one. */
export function game({ isBeginning = true, saved = null as string | null } = {}) {
  const known = new QuizGame(saved);
  let next = FIRST;
  const tell = (at: number, ...events: StreamEvent[]) => {
    for (; next < FIRST + at; next++) {
      known.arrived({ interval: next, events: [] }, isBeginning);
    }
    known.arrived({ interval: next++, events }, isBeginning);
  };
  /** Asks, answers and reveals, and takes 30 intervals. */
  const play = (id: string, at: number, choice: string | null) => {
    const asked = quiz(id, FIRST + at);
    tell(at, { type: 'quiz', data: asked });
    if (choice !== null) {
      known.note(id, { choice });
      known.note(id, { outcome: 'counted' });
    }
    tell(at + 20, { type: 'quiz-results', data: results(asked) });
  };
  return { known, tell, play, skipTo: (at: number) => (next = FIRST + at) };
}

export const request = { type: 'request-quiz-winners', data: null };
export const winners = (count: number) => ({ type: 'quiz-winners', data: { count } });
