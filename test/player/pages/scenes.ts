import { Trouble } from '../../../sdk/errors.ts';
import type { Snapshot } from '../../../sdk/viewer.ts';
import { type FakeViewer, fakeViewer, QUIZ, RESULTS, STREAM } from './fake-viewer.ts';

// What the page looks like, by name: `/?scene=quiz-open`.

const onScreen = (more: Partial<Snapshot['quiz'] & object> = {}): Partial<Snapshot> => ({
  quiz: { quiz: QUIZ, choice: null, outcome: null, results: null, ...more },
});

export const SCENES: Readonly<Record<string, () => FakeViewer>> = {
  joining: () => fakeViewer({ state: 'joining', stream: null, count: null }),
  lobby: () => fakeViewer({ stream: { ...STREAM, status: 'CREATED' } }),
  live: () => fakeViewer(),
  waiting: () => fakeViewer({ stream: { ...STREAM, hls_url: '/none.m3u8' } }),
  away: () =>
    fakeViewer({ state: 'offline', trouble: new Trouble('away', 'no answer'), stream: null }),
  unknown: () =>
    fakeViewer({
      state: 'offline',
      trouble: new Trouble('unknown', 'no stream', 404),
      stream: null,
    }),
  ended: () => fakeViewer({ state: 'ended', stream: { ...STREAM, status: 'ENDED' } }),
  'quiz-open': () => {
    const viewer = fakeViewer(onScreen());
    viewer.setRemaining(14_000);
    return viewer;
  },
  'quiz-results': () =>
    fakeViewer(onScreen({ choice: 'Jupiter', outcome: 'counted', results: RESULTS })),
};
