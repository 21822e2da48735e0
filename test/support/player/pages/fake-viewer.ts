import type { Picture, Quiz, QuizResults, Stream } from '../../../../sdk/types.ts';
import type { AnswerOutcome, Snapshot, Viewer } from '../../../../sdk/viewer.ts';

/** A viewer without a service: a test says what is on screen, and sees what the page did. */
export interface FakeViewer extends Viewer {
  /** Changes what is on screen. */
  show(change: Partial<Snapshot>): void;
  /** Tells an event to those who listen to its type. */
  tell(type: string, data: unknown): void;
  /** Does something once, as soon as the page listens to that type. */
  whenHeard(type: string, run: () => void): void;
  /** What the page called, newest last, such as `answer Jupiter`. */
  readonly calls: readonly string[];
  /** How long there is to answer from now on, ms; it runs. */
  setRemaining(ms: number): void;
  /** What becomes of the next answers; null: they stay on their way. */
  outcome: AnswerOutcome | null;
  readonly picture: Picture | null;
}

export const STREAM: Stream = {
  id: '7d2c1e6e-2a3b-4a39-9a51-0d6e2a9a7e11',
  producer: 'f1a5c9a4-0f8b-4b53-9f0e-1b1d5f6f7c22',
  dash_url: '/picture/manifest.mpd',
  hls_url: '/picture/master.m3u8',
  status: 'STREAMING',
};

const START: Snapshot = {
  state: 'live',
  trouble: null,
  stream: STREAM,
  count: { value: 1_234, formatted: '1.2K' },
  quiz: null,
  winners: { isWinning: null, hasWon: false, count: null },
  lines: [],
  hearts: 0,
  discounts: 0,
};

export function fakeViewer(start: Partial<Snapshot> = {}): FakeViewer {
  let snapshot: Snapshot = { ...START, ...start };
  let picture: Picture | null = null;
  let endMs = 0;
  const calls: string[] = [];
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  const waiting = new Map<string, () => void>();
  const tell = (type: string, data: unknown) => {
    for (const listener of listeners.get(type) ?? []) listener(data);
  };
  const viewer: FakeViewer = {
    streamId: STREAM.id,
    get state() {
      return snapshot.state;
    },
    get count() {
      return snapshot.count;
    },
    get quiz() {
      return snapshot.quiz;
    },
    get snapshot() {
      return snapshot;
    },
    get picture() {
      return picture;
    },
    name: '',
    clock: { nowMs: () => Date.now(), errorMs: 2 },
    calls,
    outcome: 'counted',
    on(type: string, listener: (data: never) => void) {
      const those = listeners.get(type) ?? new Set();
      listeners.set(type, those);
      those.add(listener as (data: unknown) => void);
      const run = waiting.get(type);
      waiting.delete(type);
      if (run) queueMicrotask(run);
      return () => those.delete(listener as (data: unknown) => void);
    },
    remainingMs: () => Math.max(0, endMs - performance.now()),
    async answer(choice) {
      calls.push(`answer ${choice}`);
      const { outcome } = viewer;
      if (snapshot.quiz) viewer.show({ quiz: { ...snapshot.quiz, choice, outcome } });
      return outcome ?? new Promise(() => {});
    },
    async say(kind, text) {
      calls.push(`say ${kind} ${text}`);
    },
    heart() {
      calls.push('heart');
    },
    follow(given) {
      picture = given;
    },
    leave() {
      calls.push('leave');
    },
    show(change) {
      snapshot = { ...snapshot, ...change };
      tell('change', snapshot);
    },
    tell,
    whenHeard(type, run) {
      waiting.set(type, run);
    },
    setRemaining(ms) {
      endMs = performance.now() + ms;
    },
  };
  return viewer;
}

export const QUIZ: Quiz = {
  id: '3b7a0c3e-5d7e-4b52-8a3e-5c1f6f0b2d33',
  streamId: STREAM.id,
  created: 1_790_000_000_000,
  duration: 20_000,
  closeInterval: 7_160_000_100,
  question: 'Which planet is the largest in the solar system?',
  choices: Object.fromEntries(
    ['Mars', 'Jupiter', 'Venus'].map((choice) => [choice, { count: 0, percentage: 0 }]),
  ),
  order: ['Mars', 'Jupiter', 'Venus'],
};

export const RESULTS: QuizResults = {
  ...QUIZ,
  choices: {
    Mars: { count: 212, percentage: 18 },
    Jupiter: { count: 824, percentage: 70 },
    Venus: { count: 141, percentage: 12 },
  },
  answer: 'Jupiter',
};
