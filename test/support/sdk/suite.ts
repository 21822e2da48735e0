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

// What the SDK does with a service, in real time. It runs wherever the SDK does, so it imports
// nothing of it but types: a program for each runtime brings the SDK and a stream.

export interface NewQuiz {
  readonly choices: readonly string[];
  readonly answer: string;
  readonly durationMs: number;
}

/** A service with a stream of this case's own. */
export interface SuiteFixture {
  readonly join: typeof joinStream;
  readonly pictureOf: typeof pictureOfPlayer;
  /** The stream was made and not begun: nobody came in the middle of a game. */
  readonly options: JoinOptions;
  openQuiz(quiz: NewQuiz): Promise<void>;
  publish(type: string, data: Record<string, unknown>): Promise<void>;
  requestWinners(): Promise<void>;
  end(): Promise<void>;
}

export interface SuiteResult {
  readonly title: string;
  /** null: it holds. */
  readonly error: string | null;
}

type Options = Partial<JoinOptions>;
type SuiteCase = (
  enter: (viewerId: string, options?: Options) => Viewer,
  fixture: SuiteFixture,
) => Promise<void>;

const QUIZ: NewQuiz = { choices: ['Mars', '2', '1'], answer: '2', durationMs: 4_000 };

export const SUITE: Readonly<Record<string, SuiteCase>> = {
  'a viewer is live, and counted once a second with all others [V-2] [V-5]': async (enter) => {
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

  'the clock is that of the service [K-2]': async (enter) => {
    const ada = enter('ada');
    expectEqual(ada.clock.errorMs, Number.POSITIVE_INFINITY);
    await waitUntil(ada, ({ state }) => state === 'live');
    const [{ errorMs }, offMs] = [ada.clock, Math.abs(ada.clock.nowMs() - Date.now())];
    check(errorMs < 1_000, `the error is ${errorMs} ms`);
    check(offMs <= errorMs + 2, `it is off by ${offMs} ms, not by ${errorMs}`);
  },

  'a stream of the feed tells each interval once, and each event [F-21] [F-10]': (enter, fixture) =>
    expectCompleteFeed(enter('ada', { transport: 'stream' }), fixture),

  'so do polls [F-4] [F-10]': (enter, fixture) =>
    expectCompleteFeed(enter('ada', { transport: 'poll' }), fixture),

  'and so does a stream that breaks again and again [F-25]': async (enter, fixture) => {
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

  'an answer is counted once, and there are results [Q-7] [Q-13] [F-32]': async (
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

  'who joins in the middle of a quiz sees it, answers, and it counts [S-17] [Q-7]': async (
    enter,
    fixture,
  ) => {
    const ada = enter('ada');
    await waitUntilLive(ada);
    const asked = nextEvent(ada, 'quiz');
    await fixture.openQuiz({ ...QUIZ, durationMs: 9_000 });
    const { id } = await asked;
    // Longer than what the feed begins with.
    await sleep(2_500);
    const [bob, eve] = [enter('bob'), enter('eve')];
    eve.follow(fixture.pictureOf(() => eve.clock.nowMs() - 2_000));
    await Promise.all([bob, eve].map((one) => waitUntil(one, ({ quiz }) => quiz?.quiz.id === id)));
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

  'a viewer who answered elsewhere learns it [Q-14]': async (enter, fixture) => {
    const [ada, other] = [enter('ada'), enter('ada')];
    await waitUntilLive(ada, other);
    const asked = [nextEvent(ada, 'quiz'), nextEvent(other, 'quiz')];
    await fixture.openQuiz(QUIZ);
    await Promise.all(asked);
    expectEqual(await ada.answer('1'), 'counted');
    expectEqual(await other.answer('2'), 'other-answer');
  },

  'who answered everything correctly reports by itself, and wins [W-6] [W-7]': async (
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

  'what somebody writes, all read; hearts add up [C-2] [C-9]': async (enter, fixture) => {
    const [ada, bob] = [enter('ada', { name: 'Ada' }), enter('bob')];
    await waitUntilLive(ada, bob);
    await ada.sendMessage('question', 'How late is it?');
    await fixture.publish('purchase', { text: 'a mug', name: 'Eve' });
    await fixture.publish('discount', { count: 2 });
    for (let count = 0; count < 7; count++) ada.sendHeart();
    await waitUntil(bob, ({ messages, hearts }) => messages.length === 2 && hearts === 7);
    const lines = bob.snapshot.messages.map(({ kind, name, text }) => [kind, name, text]);
    expectEqual(lines.sort(), [
      ['purchase', 'Eve', 'a mug'],
      ['question', 'Ada', 'How late is it?'],
    ]);
    expectEqual(bob.snapshot.discounts, 2);
    expectEqual(await errorKindOf(ada.sendMessage('message', 'x'.repeat(281))), 'refused');
  },

  'what happens is held until it is in the picture': async (enter, fixture) => {
    const latencyMs = 1_500;
    const ada = enter('ada');
    ada.follow(fixture.pictureOf(() => ada.clock.nowMs() - latencyMs));
    await waitUntilLive(ada);
    const seen = nextEvent(ada, 'lights');
    const publishedMs = ada.clock.nowMs();
    await fixture.publish('lights', { colour: 'red' });
    expectEqual(await seen, { colour: 'red' });
    const heldMs = ada.clock.nowMs() - publishedMs;
    check(heldMs > latencyMs - 300, `held for ${heldMs} ms`);
  },

  'a show that is over is ended': async (enter, fixture) => {
    await fixture.end();
    const ada = enter('ada');
    await waitUntil(ada, ({ state }) => state === 'ended');
    expectEqual(ada.snapshot.stream?.status, 'ENDED');
  },

  'a stream that does not exist is offline, and why is known [S-5]': async (enter) => {
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

/** Runs all of it, each case on a stream of its own, at the same time. */
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

/** All intervals in order, and all events that are published meanwhile. */
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
    intervals.map((_, place) => first + place),
  );
}

/** The fixture's own way to the service, but for what is given here. */
function withEnvironment(
  { options }: SuiteFixture,
  environment: JoinOptions['environment'],
): Options {
  return { environment: { ...environment, ...options.environment } };
}
