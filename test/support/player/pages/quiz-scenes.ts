import type { Quiz, QuizResults } from '../../../../sdk/types.ts';
import type { Snapshot, ViewerQuiz } from '../../../../sdk/viewer.ts';
import { messagesOf } from './chat-scenes.ts';
import { type FakeViewer, fakeViewer, QUIZ, RESULTS, STREAM } from './fake-viewer.ts';

const LONG_CHOICES = [
  'The one that was built first, long before anybody thought of a bridge over the strait',
  'Donaudampfschifffahrtsgesellschaftskapitänsmütze',
  ...['1984', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'None of these'],
];
const LONG: Quiz = {
  ...QUIZ,
  id: 'long',
  duration: 60_000,
  question: `${'Which of these towers, each of which was the tallest of its country, '.repeat(3)}stands?`,
  choices: Object.fromEntries(LONG_CHOICES.map((choice) => [choice, { count: 0, percentage: 0 }])),
  order: LONG_CHOICES,
};
const LONG_RESULTS: QuizResults = {
  ...LONG,
  choices: Object.fromEntries(
    LONG_CHOICES.map((choice, index) => [
      choice,
      { count: 1_250 * (9 - index), percentage: 20 - 2 * index },
    ]),
  ),
  answer: LONG_CHOICES[1] as string,
};

/** A quiz on screen. @param remainingMs the time left to answer, ms */
function quizScene(
  remainingMs: number,
  fields: Partial<ViewerQuiz> = {},
  snapshot: Partial<Snapshot> = {},
): () => FakeViewer {
  return () => {
    const quiz = { quiz: QUIZ, choice: null, outcome: null, results: null, ...fields };
    const viewer = fakeViewer({ messages: messagesOf(8), quiz, ...snapshot });
    viewer.setRemaining(remainingMs);
    return viewer;
  };
}

const winners = (isWinning: boolean | null): Partial<Snapshot> => ({
  winners: { isWinning, hasWon: false, count: null },
});

/** When the count of the first round is on screen. */
const WINNERS_INTERVAL = 100;

/** The end of a round. @param count null: the winners are being counted */
function winnersScene(count: number | null, hasWon: boolean): () => FakeViewer {
  return () => {
    const viewer = fakeViewer({
      messages: messagesOf(8),
      winners: { isWinning: null, hasWon, count },
      stream: { ...STREAM, winner_code: 'KOTA-4729' },
    });
    const type = count === null ? 'request-quiz-winners' : 'quiz-winners';
    const data = count === null ? null : { count };
    viewer.whenSubscribed(type, () => viewer.emitAt(WINNERS_INTERVAL, type, data));
    return viewer;
  };
}

/** A winner after the next jump in the video. */
function keptCodeScene(): FakeViewer {
  const viewer = winnersScene(12, true)();
  viewer.whenSubscribed('quiz-winners', () => {
    viewer.emitAt(WINNERS_INTERVAL, 'quiz-winners', { count: 12 });
    viewer.emit('jump', { interval: 1 });
  });
  return viewer;
}

const JUPITER = { choice: 'Jupiter' };

export const QUIZ_SCENES: Readonly<Record<string, () => FakeViewer>> = {
  'quiz-open': quizScene(14_000),
  'quiz-short': quizScene(4_400),
  'quiz-long': quizScene(48_000, { quiz: LONG }),
  'quiz-sending': quizScene(9_000, JUPITER),
  'quiz-counted': quizScene(9_000, { ...JUPITER, outcome: 'counted' }),
  'quiz-other-answer': quizScene(9_000, { ...JUPITER, outcome: 'other-answer' }),
  'quiz-too-late': quizScene(0, { ...JUPITER, outcome: 'too-late' }),
  'quiz-unknown': quizScene(0, { ...JUPITER, outcome: 'unknown' }),
  'quiz-closed': quizScene(0),
  'quiz-results': quizScene(0, { ...JUPITER, outcome: 'counted', results: RESULTS }, winners(true)),
  'quiz-wrong': quizScene(
    0,
    { choice: 'Mars', outcome: 'counted', results: RESULTS },
    winners(false),
  ),
  'quiz-missed': quizScene(0, { results: RESULTS }, winners(false)),
  'quiz-long-results': quizScene(0, {
    quiz: LONG,
    choice: '1984',
    outcome: 'counted',
    results: LONG_RESULTS,
  }),
  'quiz-replayed': quizScene(0, {}, { state: 'ended' }),
  'winners-counted': winnersScene(null, false),
  'winners-own': winnersScene(12, true),
  'winners-code': keptCodeScene,
  'winners-only': winnersScene(1, true),
  'winners-others': winnersScene(1_234, false),
  'winners-none': winnersScene(0, false),
};
