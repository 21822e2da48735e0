import type { join as joinStream } from '../../../sdk/join.ts';
import type { JoinOptions } from '../../../sdk/join-options.ts';
import type { pictureOf as pictureOfPlayer } from '../../../sdk/pictures.ts';
import type { EventsInterval } from '../../../sdk/types.ts';
import type { Viewer } from '../../../sdk/viewer.ts';
import {
  check,
  errorKindOf,
  expectEqual,
  nextEvent,
  sleep,
  waitUntil,
  waitUntilLive,
} from './suite-checks.ts';

// Cases of the SDK with a service, in real time. They run in every runtime of the SDK, so this file
// imports only types: a program for each runtime passes the SDK and a stream.

export interface NewQuiz {
  readonly choices: readonly string[];
  readonly answer: string;
  readonly durationMs: number;
}

/** A service with a stream for one case. */
export interface SuiteFixture {
  readonly join: typeof joinStream;
  readonly pictureOf: typeof pictureOfPlayer;
  /** The stream has not started, so that no viewer joins in the middle of a game. */
  readonly options: JoinOptions;
  openQuiz(quiz: NewQuiz): Promise<void>;
  publish(type: string, data: Record<string, unknown>): Promise<void>;
  requestWinners(): Promise<void>;
  end(): Promise<void>;
}

export interface SuiteResult {
  readonly title: string;
  /** null: the case passed. */
  readonly error: string | null;
}

type Options = Partial<JoinOptions>;
type SuiteCase = (
  enter: (viewerId: string, options?: Options) => Viewer,
  fixture: SuiteFixture,
) => Promise<void>;

const QUIZ: NewQuiz = { choices: ['Mars', '2', '1'], answer: '2', durationMs: 4_000 };

export const SUITE: Readonly<Record<string, SuiteCase>> = {
  'a viewer is live, and each viewer is counted once [V-2] [V-5]': async (enter) => {
    const [ada, bob] = [enter('ada'), enter('bob')];
    expectEqual(ada.state, 'joining');
    await waitUntil(ada, ({ state }) => state === 'live');
    await waitUntil(ada, ({ count }) => count?.value === 2);
    expectEqual(ada.count?.formatted, '2');
    await waitUntil(ada, ({ stream }) => stream?.id === ada.streamId);
    bob.leave();
    expectEqual(bob.state, 'ended');
    await waitUntil(ada, ({ count }) => count?.value === 1);
  },

  'the clock shows the time of the service, within its reported error [K-2]': async (enter) => {
    const ada = enter('ada');
    expectEqual(ada.clock.errorMs, Number.POSITIVE_INFINITY);
    await waitUntil(ada, ({ state }) => state === 'live');
    const [{ errorMs }, offMs] = [ada.clock, Math.abs(ada.clock.nowMs() - Date.now())];
    check(errorMs < 1_000, `the error is ${errorMs} ms`);
    check(offMs <= errorMs + 2, `the clock is off by ${offMs} ms, more than ${errorMs} ms`);
  },

  'an event stream delivers each interval and each event once [F-21] [F-10]': (enter, fixture) =>
    expectCompleteFeed(enter('ada', { transport: 'stream' }), fixture),

  'polls deliver each interval and each event once [F-4] [F-10]': (enter, fixture) =>
    expectCompleteFeed(enter('ada', { transport: 'poll' }), fixture),

  'an event stream that breaks twice delivers each interval and each event once [F-25]': async (
    enter,
    fixture,
  ) => {
    let cuts = new AbortController();
    const environment = {
      fetch: (url: string, init: RequestInit = {}) => {
        const isFeed = url.includes('/events-streams/');
        const signals = [init.signal, isFeed ? cuts.signal : null].filter((signal) => !!signal);
        return fetch(url, { ...init, signal: AbortSignal.any(signals) });
      },
    };
    const ada = enter('ada', { transport: 'stream', ...withEnvironment(fixture, environment) });
    const reading = expectCompleteFeed(ada, fixture, 5_000);
    for (let times = 0; times < 2; times++) {
      await sleep(1_500);
      cuts.abort();
      cuts = new AbortController();
    }
    await reading;
  },

  'an answer is counted once, and its quiz gets results [Q-7] [Q-13] [F-32]': async (
    enter,
    fixture,
  ) => {
    const [ada, bob] = [enter('ada'), enter('bob')];
    await waitUntilLive(ada, bob);
    expectEqual(ada.remainingMs(), 0);
    const asked = [nextEvent(ada, 'quiz'), nextEvent(bob, 'quiz')] as const;
    await fixture.openQuiz(QUIZ);
    const [quiz] = await Promise.all(asked);
    expectEqual([quiz.order, quiz.duration], [QUIZ.choices, QUIZ.durationMs]);
    const leftMs = ada.remainingMs();
    check(leftMs > 0 && leftMs <= QUIZ.durationMs, `${leftMs} ms are left`);
    const received = nextEvent(ada, 'quiz-results');
    expectEqual(await errorKindOf(ada.answer('3')), 'refused');
    expectEqual(await Promise.all([ada.answer('2'), ada.answer('2'), bob.answer('Mars')]), [
      'counted',
      'counted',
      'counted',
    ]);
    expectEqual([ada.quiz?.choice, ada.quiz?.outcome, ada.quiz?.results], ['2', 'counted', null]);
    const { answer, choices } = await received;
    expectEqual(answer, '2');
    expectEqual(choices['2'], { count: 1, percentage: 50 });
    expectEqual([ada.quiz?.results?.answer, ada.remainingMs()], ['2', 0]);
    expectEqual(await errorKindOf(bob.answer('2')), 'refused');
  },

  'a viewer who joins during a quiz sees it, and the answer counts [S-17] [Q-7]': async (
    enter,
    fixture,
  ) => {
    const ada = enter('ada');
    await waitUntilLive(ada);
    const asked = nextEvent(ada, 'quiz');
    await fixture.openQuiz({ ...QUIZ, durationMs: 9_000 });
    const { id } = await asked;
    // Longer than the past that the feed begins with.
    await sleep(2_500);
    const [bob, eve] = [enter('bob'), enter('eve')];
    eve.follow(fixture.pictureOf(() => eve.clock.nowMs() - 2_000));
    await Promise.all(
      [bob, eve].map((viewer) => waitUntil(viewer, ({ quiz }) => quiz?.quiz.id === id)),
    );
    check(bob.remainingMs() > 0, 'no time is left');
    expectEqual(await Promise.all([bob.answer('2'), eve.answer('1')]), ['counted', 'counted']);
    const { choices } = await nextEvent(ada, 'quiz-results');
    expectEqual(
      [choices['2'], choices['1']],
      [
        { count: 1, percentage: 50 },
        { count: 1, percentage: 50 },
      ],
    );
  },

  'an answer is `other-answer` when the viewer answered differently on another device [Q-14]':
    async (enter, fixture) => {
      const [ada, other] = [enter('ada'), enter('ada')];
      await waitUntilLive(ada, other);
      const asked = [nextEvent(ada, 'quiz'), nextEvent(other, 'quiz')];
      await fixture.openQuiz(QUIZ);
      await Promise.all(asked);
      expectEqual(await ada.answer('1'), 'counted');
      expectEqual(await other.answer('2'), 'other-answer');
    },

  'a viewer who answered everything correctly is reported by the SDK, and wins [W-6] [W-7]': async (
    enter,
    fixture,
  ) => {
    const [ada, bob] = [enter('ada'), enter('bob')];
    await waitUntilLive(ada, bob);
    const asked = [nextEvent(ada, 'quiz'), nextEvent(bob, 'quiz')];
    const received = [nextEvent(ada, 'quiz-results'), nextEvent(bob, 'quiz-results')];
    await fixture.openQuiz(QUIZ);
    await Promise.all(asked);
    expectEqual(await Promise.all([ada.answer('2'), bob.answer('1')]), ['counted', 'counted']);
    await Promise.all(received);
    expectEqual([ada.snapshot.winners.isWinning, bob.snapshot.winners.isWinning], [true, false]);
    const counted = nextEvent(ada, 'quiz-winners');
    await fixture.requestWinners();
    expectEqual(await counted, { count: 1 });
    await waitUntil(ada, ({ winners }) => winners.hasWon && winners.count === 1);
    await waitUntil(bob, ({ winners }) => winners.count === 1);
    expectEqual(bob.snapshot.winners.hasWon, false);
  },

  'a message reaches all viewers, and hearts add up [C-2] [C-9]': async (enter, fixture) => {
    const [ada, bob] = [enter('ada', { name: 'Ada' }), enter('bob')];
    await waitUntilLive(ada, bob);
    await ada.sendMessage('question', 'How late is it?');
    await fixture.publish('purchase', { text: 'a mug', name: 'Eve' });
    await fixture.publish('discount', { count: 2 });
    for (let count = 0; count < 7; count++) ada.sendHeart();
    await waitUntil(bob, ({ messages, hearts }) => messages.length === 2 && hearts === 7);
    const messages = bob.snapshot.messages.map(({ kind, name, text }) => [kind, name, text]);
    expectEqual(messages.sort(), [
      ['purchase', 'Eve', 'a mug'],
      ['question', 'Ada', 'How late is it?'],
    ]);
    expectEqual(bob.snapshot.discounts, 2);
    expectEqual(await errorKindOf(ada.sendMessage('message', 'x'.repeat(281))), 'refused');
  },

  'an event is delayed until its frame is on screen': async (enter, fixture) => {
    const latencyMs = 1_500;
    const ada = enter('ada');
    ada.follow(fixture.pictureOf(() => ada.clock.nowMs() - latencyMs));
    await waitUntilLive(ada);
    const seen = nextEvent(ada, 'lights');
    const publishedMs = ada.clock.nowMs();
    await fixture.publish('lights', { colour: 'red' });
    expectEqual(await seen, { colour: 'red' });
    const delayMs = ada.clock.nowMs() - publishedMs;
    check(delayMs > latencyMs - 300, `delayed by ${delayMs} ms`);
  },

  'a viewer who joins after the end is `ended`': async (enter, fixture) => {
    await fixture.end();
    const ada = enter('ada');
    await waitUntil(ada, ({ state }) => state === 'ended');
    expectEqual(ada.snapshot.stream?.status, 'ENDED');
  },

  'a viewer of a stream that does not exist is `offline` with the error `unknown` [S-5]': async (
    enter,
  ) => {
    const ada = enter('ada', { streamId: '11111111-1111-4111-8111-111111111111' });
    await waitUntil(ada, ({ state }) => state === 'offline');
    expectEqual(ada.snapshot.error?.kind, 'unknown');
  },

  'a viewer who left receives nothing more': async (enter, fixture) => {
    const ada = enter('ada');
    await waitUntilLive(ada);
    let received = 0;
    ada.on('interval', () => received++);
    ada.leave();
    await sleep(600);
    expectEqual(
      [received, ada.state, await errorKindOf(ada.sendMessage('message', 'Hello'))],
      [0, 'ended', 'left'],
    );
    await fixture.publish('lights', {});
  },
};

/** Runs all cases at the same time, each on its own stream. */
export async function runSuite(newFixture: () => Promise<SuiteFixture>): Promise<SuiteResult[]> {
  return Promise.all(
    Object.entries(SUITE).map(async ([title, run]) => {
      const viewers: Viewer[] = [];
      try {
        const fixture = await newFixture();
        await run((viewerId, options) => {
          const all = { ...fixture.options, storage: null, viewerId, ...options } as JoinOptions;
          const viewer = fixture.join(all);
          viewers.push(viewer);
          return viewer;
        }, fixture);
        return { title, error: null };
      } catch (error) {
        return { title, error: error instanceof Error ? error.message : String(error) };
      } finally {
        for (const viewer of viewers) viewer.leave();
      }
    }),
  );
}

/** Expects all intervals in order, with all events published meanwhile. */
async function expectCompleteFeed(
  viewer: Viewer,
  fixture: SuiteFixture,
  forMs = 2_000,
): Promise<void> {
  const intervals: EventsInterval[] = [];
  const numbers: unknown[] = [];
  viewer.on('interval', (interval) => intervals.push(interval));
  viewer.on('count-up', (data) => numbers.push((data as { number: number }).number));
  await waitUntilLive(viewer);
  const untilMs = Date.now() + forMs;
  let published = 0;
  for (; Date.now() < untilMs; published++) {
    await fixture.publish('count-up', { number: published });
    await sleep(90);
  }
  await waitUntil(viewer, () => numbers.length >= published);
  expectEqual(
    numbers,
    Array.from({ length: published }, (_, number) => number),
  );
  const first = intervals[0]?.interval ?? 0;
  expectEqual(
    intervals.map(({ interval }) => interval),
    intervals.map((_, index) => first + index),
  );
}

/** The environment of the fixture, on top of this one. */
function withEnvironment(
  { options }: SuiteFixture,
  environment: JoinOptions['environment'],
): Options {
  return { environment: { ...environment, ...options.environment } };
}
