import type { Picture, Quiz, QuizResults, Stream } from '../../../../sdk/types.ts';
import type { AnswerOutcome, Snapshot, Viewer } from '../../../../sdk/viewer.ts';

/** A viewer without a service: a test sets its snapshot and reads the page's calls. */
export interface FakeViewer extends Viewer {
  /** Changes the snapshot. */
  show(change: Partial<Snapshot>): void;
  /** Calls the listeners of an event type. */
  emit(type: string, data: unknown): void;
  /** Calls the listeners of an interval and of its only event. */
  emitAt(interval: number, type: string, data: unknown): void;
  /** Runs once, as soon as the page listens to that event type. */
  whenSubscribed(type: string, run: () => void): void;
  /** The calls of the page, newest last, such as `answer Jupiter`. */
  readonly calls: readonly string[];
  /** Sets the time left to answer from now on, ms. */
  setRemaining(ms: number): void;
  /** The outcome of the next answers; null: they stay pending. */
  outcome: AnswerOutcome | null;
  readonly picture: Picture | null;
}

export const STREAM: Stream = {
  id: '7d2c1e6e-2a3b-4a39-9a51-0d6e2a9a7e11',
  producer: 'f1a5c9a4-0f8b-4b53-9f0e-1b1d5f6f7c22',
  dash_url: '/media/show/manifest.mpd',
  hls_url: '/media/show/master.m3u8',
  status: 'STREAMING',
};

const INITIAL: Snapshot = {
  state: 'live',
  error: null,
  stream: STREAM,
  count: { value: 1_234, formatted: '1.2K' },
  quiz: null,
  winners: { isWinning: null, hasWon: false, count: null },
  messages: [],
  hearts: 0,
  discounts: 0,
};

export function fakeViewer(initial: Partial<Snapshot> = {}): FakeViewer {
  let snapshot: Snapshot = { ...INITIAL, ...initial };
  let picture: Picture | null = null;
  let endMs = 0;
  const calls: string[] = [];
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  const onSubscribed = new Map<string, () => void>();
  const emit = (type: string, data: unknown) => {
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
      const ofType = listeners.get(type) ?? new Set();
      listeners.set(type, ofType);
      ofType.add(listener as (data: unknown) => void);
      const run = onSubscribed.get(type);
      onSubscribed.delete(type);
      if (run) queueMicrotask(run);
      return () => ofType.delete(listener as (data: unknown) => void);
    },
    remainingMs: () => Math.max(0, endMs - performance.now()),
    async answer(choice) {
      calls.push(`answer ${choice}`);
      const { outcome } = viewer;
      if (snapshot.quiz) viewer.show({ quiz: { ...snapshot.quiz, choice, outcome } });
      return outcome ?? new Promise(() => {});
    },
    async sendMessage(kind, text) {
      calls.push(`sendMessage ${kind} ${text}`);
    },
    sendHeart() {
      calls.push('sendHeart');
    },
    follow(followed) {
      picture = followed;
    },
    leave() {
      calls.push('leave');
    },
    show(change) {
      snapshot = { ...snapshot, ...change };
      emit('change', snapshot);
    },
    emit,
    emitAt(interval, type, data) {
      emit('interval', { interval, events: [{ type, data }] });
      emit(type, data);
    },
    whenSubscribed(type, run) {
      onSubscribed.set(type, run);
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
