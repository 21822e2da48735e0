import type { join as joinStream } from '../../../sdk/join.ts';
import type { JoinOptions } from '../../../sdk/join-options.ts';
import type { pictureOf as pictureOfPlayer } from '../../../sdk/pictures.ts';
import type { EventsInterval } from '../../../sdk/types.ts';
import type { Viewer } from '../../../sdk/viewer.ts';
import { check, live, once, same, sleep, trouble, until } from './suite-checks.ts';

// What the SDK does with a service, in real time. It runs wherever the SDK does, so it imports
// nothing of it but types: a program for each runtime brings the SDK and a stream.

export interface NewQuiz {
  readonly choices: readonly string[];
  readonly answer: string;
  readonly durationMs: number;
}

/** A service with a stream of this case's own. */
export interface Fixture {
  readonly join: typeof joinStream;
  readonly pictureOf: typeof pictureOfPlayer;
  /** The stream was made and not begun: nobody came in the middle of a game. */
  readonly options: JoinOptions;
  openQuiz(quiz: NewQuiz): Promise<void>;
  publish(type: string, data: Record<string, unknown>): Promise<void>;
  requestWinners(): Promise<void>;
  end(): Promise<void>;
}

export interface Result {
  readonly title: string;
  /** null: it holds. */
  readonly error: string | null;
}

type Options = Partial<JoinOptions>;
type Case = (
  enter: (viewerId: string, options?: Options) => Viewer,
  fixture: Fixture,
) => Promise<void>;

const QUIZ: NewQuiz = { choices: ['Mars', '2', '1'], answer: '2', durationMs: 4_000 };

export const SUITE: Readonly<Record<string, Case>> = {
  'a viewer is live, and counted once a second with all others [V-2] [V-5]': async (enter) => {
    const [ada, bob] = [enter('ada'), enter('bob')];
    same(ada.state, 'joining');
    await until(ada, ({ state }) => state === 'live');
    await until(ada, ({ count }) => count?.value === 2);
    same(ada.count?.formatted, '2');
    await until(ada, ({ stream }) => stream?.id === ada.streamId);
    bob.leave();
    same(bob.state, 'ended');
    await until(ada, ({ count }) => count?.value === 1);
  },

  'the clock is that of the service [K-2]': async (enter) => {
    const ada = enter('ada');
    same(ada.clock.errorMs, Number.POSITIVE_INFINITY);
    await until(ada, ({ state }) => state === 'live');
    const [{ errorMs }, offMs] = [ada.clock, Math.abs(ada.clock.nowMs() - Date.now())];
    check(errorMs < 1_000, `the error is ${errorMs} ms`);
    check(offMs <= errorMs + 2, `it is off by ${offMs} ms, not by ${errorMs}`);
  },

  'a stream of the feed tells each interval once, and each event [F-21] [F-10]': (enter, fixture) =>
    readsAll(enter('ada', { transport: 'stream' }), fixture),

  'so do polls [F-4] [F-10]': (enter, fixture) =>
    readsAll(enter('ada', { transport: 'poll' }), fixture),

  'and so does a stream that breaks again and again [F-25]': async (enter, fixture) => {
    let cuts = new AbortController();
    const environment = {
      fetch: (url: string, init: RequestInit = {}) => {
        const isFeed = url.includes('/events-streams/');
        const signals = [init.signal, isFeed ? cuts.signal : null].filter((signal) => !!signal);
        return fetch(url, { ...init, signal: AbortSignal.any(signals) });
      },
    };
    const ada = enter('ada', { transport: 'stream', ...lookedAfter(fixture, environment) });
    const reading = readsAll(ada, fixture, 5_000);
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
    await live(ada, bob);
    same(ada.remainingMs(), 0);
    const asked = [once(ada, 'quiz'), once(bob, 'quiz')] as const;
    await fixture.openQuiz(QUIZ);
    const [quiz] = await Promise.all(asked);
    same([quiz.order, quiz.duration], [QUIZ.choices, QUIZ.durationMs]);
    const leftMs = ada.remainingMs();
    check(leftMs > 0 && leftMs <= QUIZ.durationMs, `${leftMs} ms are left`);
    const told = once(ada, 'quiz-results');
    same(await trouble(ada.answer('3')), 'refused');
    same(await Promise.all([ada.answer('2'), ada.answer('2'), bob.answer('Mars')]), [
      'counted',
      'counted',
      'counted',
    ]);
    same([ada.quiz?.choice, ada.quiz?.outcome, ada.quiz?.results], ['2', 'counted', null]);
    const { answer, choices } = await told;
    same(answer, '2');
    same(choices['2'], { count: 1, percentage: 50 });
    same([ada.quiz?.results?.answer, ada.remainingMs()], ['2', 0]);
    same(await trouble(bob.answer('2')), 'refused');
  },

  'who joins in the middle of a quiz sees it, answers, and it counts [S-17] [Q-7]': async (
    enter,
    fixture,
  ) => {
    const ada = enter('ada');
    await live(ada);
    const asked = once(ada, 'quiz');
    await fixture.openQuiz({ ...QUIZ, durationMs: 9_000 });
    const { id } = await asked;
    // Longer than what the feed begins with.
    await sleep(2_500);
    const [bob, eve] = [enter('bob'), enter('eve')];
    eve.follow(fixture.pictureOf(() => eve.clock.nowMs() - 2_000));
    await Promise.all([bob, eve].map((one) => until(one, ({ quiz }) => quiz?.quiz.id === id)));
    check(bob.remainingMs() > 0, 'no time is left');
    same(await Promise.all([bob.answer('2'), eve.answer('1')]), ['counted', 'counted']);
    const { choices } = await once(ada, 'quiz-results');
    same(
      [choices['2'], choices['1']],
      [
        { count: 1, percentage: 50 },
        { count: 1, percentage: 50 },
      ],
    );
  },

  'a viewer who answered elsewhere is told so [Q-14]': async (enter, fixture) => {
    const [ada, other] = [enter('ada'), enter('ada')];
    await live(ada, other);
    const asked = [once(ada, 'quiz'), once(other, 'quiz')];
    await fixture.openQuiz(QUIZ);
    await Promise.all(asked);
    same(await ada.answer('1'), 'counted');
    same(await other.answer('2'), 'other-answer');
  },

  'who answered everything correctly reports by itself, and wins [W-6] [W-7]': async (
    enter,
    fixture,
  ) => {
    const [ada, bob] = [enter('ada'), enter('bob')];
    await live(ada, bob);
    const asked = [once(ada, 'quiz'), once(bob, 'quiz')];
    const told = [once(ada, 'quiz-results'), once(bob, 'quiz-results')];
    await fixture.openQuiz(QUIZ);
    await Promise.all(asked);
    same(await Promise.all([ada.answer('2'), bob.answer('1')]), ['counted', 'counted']);
    await Promise.all(told);
    same([ada.snapshot.winners.isWinning, bob.snapshot.winners.isWinning], [true, false]);
    const counted = once(ada, 'quiz-winners');
    await fixture.requestWinners();
    same(await counted, { count: 1 });
    await until(ada, ({ winners }) => winners.hasWon && winners.count === 1);
    await until(bob, ({ winners }) => winners.count === 1);
    same(bob.snapshot.winners.hasWon, false);
  },

  'what somebody writes, all read; hearts add up [C-2] [C-9]': async (enter, fixture) => {
    const [ada, bob] = [enter('ada', { name: 'Ada' }), enter('bob')];
    await live(ada, bob);
    await ada.say('question', 'How late is it?');
    await fixture.publish('purchase', { text: 'a mug', name: 'Eve' });
    await fixture.publish('discount', { count: 2 });
    for (let count = 0; count < 7; count++) ada.heart();
    await until(bob, ({ lines, hearts }) => lines.length === 2 && hearts === 7);
    const lines = bob.snapshot.lines.map(({ kind, name, text }) => [kind, name, text]);
    same(lines.sort(), [
      ['purchase', 'Eve', 'a mug'],
      ['question', 'Ada', 'How late is it?'],
    ]);
    same(bob.snapshot.discounts, 2);
    same(await trouble(ada.say('message', 'x'.repeat(281))), 'refused');
  },

  'what happens is held until it is in the picture': async (enter, fixture) => {
    const latencyMs = 1_500;
    const ada = enter('ada');
    ada.follow(fixture.pictureOf(() => ada.clock.nowMs() - latencyMs));
    await live(ada);
    const seen = once(ada, 'lights');
    const publishedMs = ada.clock.nowMs();
    await fixture.publish('lights', { colour: 'red' });
    same(await seen, { colour: 'red' });
    const heldMs = ada.clock.nowMs() - publishedMs;
    check(heldMs > latencyMs - 300, `held for ${heldMs} ms`);
  },

  'a show that is over is ended': async (enter, fixture) => {
    await fixture.end();
    const ada = enter('ada');
    await until(ada, ({ state }) => state === 'ended');
    same(ada.snapshot.stream?.status, 'ENDED');
  },

  'a stream that does not exist is offline, and why is known [S-5]': async (enter) => {
    const ada = enter('ada', { streamId: '11111111-1111-4111-8111-111111111111' });
    await until(ada, ({ state }) => state === 'offline');
    same(ada.snapshot.trouble?.kind, 'unknown');
  },

  'who has left is told nothing more': async (enter, fixture) => {
    const ada = enter('ada');
    await live(ada);
    let told = 0;
    ada.on('interval', () => told++);
    ada.leave();
    await sleep(600);
    same([told, ada.state, await trouble(ada.say('message', 'Hello'))], [0, 'ended', 'left']);
    await fixture.publish('lights', {});
  },
};

/** Runs all of it, each case on a stream of its own, at the same time. */
export async function runSuite(newFixture: () => Promise<Fixture>): Promise<Result[]> {
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
async function readsAll(viewer: Viewer, fixture: Fixture, forMs = 2_000): Promise<void> {
  const intervals: EventsInterval[] = [];
  const numbers: unknown[] = [];
  viewer.on('interval', (interval) => intervals.push(interval));
  viewer.on('count-up', (data) => numbers.push((data as { number: number }).number));
  await live(viewer);
  const untilMs = Date.now() + forMs;
  let published = 0;
  for (; Date.now() < untilMs; published++) {
    await fixture.publish('count-up', { number: published });
    await sleep(90);
  }
  await until(viewer, () => numbers.length >= published);
  same(
    numbers,
    Array.from({ length: published }, (_, number) => number),
  );
  const first = intervals[0]?.interval ?? 0;
  same(
    intervals.map(({ interval }) => interval),
    intervals.map((_, place) => first + place),
  );
}

/** The fixture's own way to the service, but for what is given here. */
function lookedAfter({ options }: Fixture, environment: JoinOptions['environment']): Options {
  return { environment: { ...environment, ...options.environment } };
}
