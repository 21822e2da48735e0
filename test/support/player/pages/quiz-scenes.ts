import type { Quiz, QuizResults } from '../../../../sdk/types.ts';
import type { Snapshot, ViewerQuiz } from '../../../../sdk/viewer.ts';
import { linesOf } from './crowd-scenes.ts';
import { type FakeViewer, fakeViewer, QUIZ, RESULTS } from './fake-viewer.ts';

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
  choices: Object.fromEntries(LONG_CHOICES.map((one) => [one, { count: 0, percentage: 0 }])),
  order: LONG_CHOICES,
};
const LONG_RESULTS: QuizResults = {
  ...LONG,
  choices: Object.fromEntries(
    LONG_CHOICES.map((one, index) => [
      one,
      { count: 1_250 * (9 - index), percentage: 20 - 2 * index },
    ]),
  ),
  answer: LONG_CHOICES[1] as string,
};

/** A quiz on screen. @param remainingMs to answer */
function asked(
  remainingMs: number,
  more: Partial<ViewerQuiz> = {},
  snapshot: Partial<Snapshot> = {},
): () => FakeViewer {
  return () => {
    const quiz = { quiz: QUIZ, choice: null, outcome: null, results: null, ...more };
    const viewer = fakeViewer({ lines: linesOf(8), quiz, ...snapshot });
    viewer.setRemaining(remainingMs);
    return viewer;
  };
}

const winners = (isWinning: boolean | null): Partial<Snapshot> => ({
  winners: { isWinning, hasWon: false, count: null },
});

/** The end of a round. @param count null: the winners are being counted */
function round(count: number | null, hasWon: boolean): () => FakeViewer {
  return () => {
    const viewer = fakeViewer({ lines: linesOf(8), winners: { isWinning: null, hasWon, count } });
    const type = count === null ? 'request-quiz-winners' : 'quiz-winners';
    viewer.whenHeard(type, () => viewer.tell(type, count === null ? null : { count }));
    return viewer;
  };
}

const JUPITER = { choice: 'Jupiter' };

export const QUIZ_SCENES: Readonly<Record<string, () => FakeViewer>> = {
  'quiz-open': asked(14_000),
  'quiz-short': asked(4_400),
  'quiz-long': asked(48_000, { quiz: LONG }),
  'quiz-sending': asked(9_000, JUPITER),
  'quiz-counted': asked(9_000, { ...JUPITER, outcome: 'counted' }),
  'quiz-other-answer': asked(9_000, { ...JUPITER, outcome: 'other-answer' }),
  'quiz-too-late': asked(0, { ...JUPITER, outcome: 'too-late' }),
  'quiz-unknown': asked(0, { ...JUPITER, outcome: 'unknown' }),
  'quiz-closed': asked(0),
  'quiz-results': asked(0, { ...JUPITER, outcome: 'counted', results: RESULTS }, winners(true)),
  'quiz-wrong': asked(0, { choice: 'Mars', outcome: 'counted', results: RESULTS }, winners(false)),
  'quiz-missed': asked(0, { results: RESULTS }, winners(false)),
  'quiz-long-results': asked(0, {
    quiz: LONG,
    choice: '1984',
    outcome: 'counted',
    results: LONG_RESULTS,
  }),
  'quiz-replayed': asked(0, {}, { state: 'ended' }),
  'winners-counted': round(null, false),
  'winners-own': round(12, true),
  'winners-only': round(1, true),
  'winners-others': round(1_234, false),
  'winners-none': round(0, false),
};
