import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  sealShow,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../platform/runtime.ts';
import { DATABASE_FILE } from '../../storage/sql/sqlite.ts';

const STREAM = uuidOf(1);

let show: Show;
afterEach(() => show.close());

/** Requests winners, and seals the request in the interval that it returns. */
async function openRound(): Promise<number> {
  show = await openShow([STREAM]);
  const own = { id: uuidOf(2), streamId: STREAM, producer: PRODUCER };
  const interval = intervalAt(SHOW_START_MS);
  await seal(-1, interval - 1);
  await show.store.requestWinners({ ...own, nowMs: SHOW_START_MS });
  await seal(interval - 1, interval);
  return interval;
}

/** @returns the body of the sealed interval; null when it is empty */
async function seal(after: number, interval: number): Promise<string | null> {
  const nowMs = intervalStartMs(interval + 1);
  const [sealed] = await sealShow(show, { after, interval, nowMs, transients: [] });
  return sealed?.body ?? null;
}

test('[W-4] [W-9] a winner report is in time until the interval of the count ends, however late sealing is', async () => {
  const interval = await openRound();
  const endMs = intervalStartMs(interval + 5);
  const inTime = { streamId: STREAM, seat: 1, receivedMs: endMs - 1 };
  const late = { streamId: STREAM, seat: 2, receivedMs: endMs };
  expect(await show.store.recordWinners([late, inTime])).toEqual(['no-round', 'won']);
  expect(await show.store.recordWinners([late])).toEqual(['no-round']);
  await seal(interval, interval + 2);
  await seal(interval + 2, interval + 3);
  expect(await seal(interval + 3, interval + 5)).toContain('"count":1');
});

test.each([3, 20])(
  '[W-4] [W-5] a round in which no interval was sealed for %d intervals goes on for 4 s',
  async (skipped) => {
    const opened = await openRound();
    const resumed = opened + skipped + 1;
    const claimAt = (interval: number, seat: number) => {
      const receivedMs = intervalStartMs(interval);
      return show.store.recordWinners([{ streamId: STREAM, seat, receivedMs }]);
    };
    expect(await seal(opened, resumed)).toBeNull();
    expect(await claimAt(resumed + 16, 1)).toEqual(['won']);
    expect(await claimAt(resumed + 17, 2)).toEqual(['no-round']);
    for (let interval = resumed + 1; interval < resumed + 16; interval++)
      expect(await seal(interval - 1, interval)).toBeNull();
    expect(await seal(resumed + 15, resumed + 16)).toContain('"count":1');
  },
);

test.each([
  [2, 18],
  [30, 40],
])(
  '[W-5] a request in a sealing that skips %d intervals has its count %d intervals later',
  async (skipped, delay) => {
    show = await openShow([STREAM]);
    const start = intervalAt(SHOW_START_MS);
    await seal(-1, start);
    const own = { id: uuidOf(2), streamId: STREAM, producer: PRODUCER };
    await show.store.requestWinners({ ...own, nowMs: SHOW_START_MS });
    const requested = start + skipped + 1;
    expect(await seal(start, requested)).toContain('request-quiz-winners');
    const dueInterval = requested + delay;
    for (let interval = requested + 1; interval < dueInterval; interval++)
      expect(await seal(interval - 1, interval)).toBeNull();
    expect(await seal(dueInterval - 1, dueInterval)).toContain('"count":0');
  },
);

test('[W-5] a round is not prolonged by one skipped interval, before or after it, or 10 s after its request', async () => {
  let opened = await openRound();
  await seal(opened, opened + 2);
  expect(await seal(opened + 2, opened + 4)).toContain('"count":0');
  expect(await seal(opened + 4, opened + 20)).toBeNull();
  await show.close();
  opened = await openRound();
  expect(await seal(opened, opened + 40)).toContain('"count":0');
});

test('[W-10] a counted report is acknowledged again for 10 s after its round, until the next', async () => {
  show = await openShow([STREAM]);
  const request = (id: number, nowMs: number) =>
    show.store.requestWinners({ id: uuidOf(id), streamId: STREAM, producer: PRODUCER, nowMs });
  const interval = intervalAt(SHOW_START_MS);
  await seal(-1, interval - 1);
  await request(2, SHOW_START_MS);
  await seal(interval - 1, interval);
  const counted = { streamId: STREAM, seat: 1, receivedMs: SHOW_START_MS + 300 };
  const others = [
    { ...counted, seat: 2 },
    { ...counted, streamId: uuidOf(3) },
  ];
  await show.store.recordWinners([counted]);
  await seal(interval, interval + 2);
  await seal(interval + 2, interval + 4);
  const at = async (receivedMs: number) =>
    show.store.recordWinners([counted, ...others].map((claim) => ({ ...claim, receivedMs })));
  const lastMs = intervalStartMs(interval + 45) - 1;
  expect(await at(lastMs)).toEqual(['won', 'no-round', 'no-round']);
  expect(await at(lastMs + 1)).toEqual(['no-round', 'no-round', 'no-round']);
  await request(4, lastMs);
  await seal(interval + 4, interval + 5);
  await seal(interval + 5, interval + 7);
  await seal(interval + 7, interval + 9);
  expect((await at(lastMs))[0]).toBe('no-round');
  const rounds = await show.store.listWinnersRounds({ streamId: STREAM, producer: PRODUCER });
  expect(rounds.map(({ count }) => count)).toEqual([1, 0]);
});

describe('recordWinners', () => {
  let nowMs = 0;
  let passedMs = 0;
  beforeEach(() => {
    passedMs = 0;
    replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => (nowMs += passedMs) });
  });
  afterEach(() => replaceRuntime(SYSTEM_RUNTIME));

  /** Opens a show with a round whose game counts as one with this many quizzes. @returns its database */
  async function openRoundOf(quizzes: number): Promise<Database> {
    show = await openShow([STREAM]);
    const own = { id: uuidOf(2), streamId: STREAM, producer: PRODUCER };
    await show.store.requestWinners({ ...own, nowMs: SHOW_START_MS });
    const sqlite = new Database(join(show.directory, DATABASE_FILE));
    sqlite.run('update winners_rounds set quizzes = ?', [quizzes]);
    return sqlite;
  }

  const claimsOf = (streamId: string, length: number, receivedMs = SHOW_START_MS) =>
    Array.from({ length }, (_, seat) => ({ streamId, seat, receivedMs }));

  test('[W-7] decides as many claims as there is time for, and looks up none that the round refused before', async () => {
    show = await openShow([STREAM, uuidOf(3)]);
    const own = { producer: PRODUCER, nowMs: SHOW_START_MS };
    await show.store.requestWinners({ ...own, id: uuidOf(2), streamId: STREAM });
    await show.store.requestWinners({ ...own, id: uuidOf(4), streamId: uuidOf(3) });
    using sqlite = new Database(join(show.directory, DATABASE_FILE));
    sqlite.run('update winners_rounds set quizzes = 1999 where stream_id = ?', [STREAM]);
    const claims = [...claimsOf(STREAM, 12), ...claimsOf(uuidOf(3), 9)];
    // The short game is first. In the rest of the 75 ms five statements look up two seats of the long game each.
    passedMs = 10;
    const decisions = await show.store.recordWinners(claims);
    expect(decisions).toEqual([
      ...Array(10).fill('won'),
      ...Array(2).fill('later'),
      ...Array(9).fill('won'),
    ]);
    const later = claims.filter((_, index) => decisions[index] === 'later');
    expect(await show.store.recordWinners(later)).toEqual(Array(2).fill('won'));
    const round = sqlite.query('select number from winners_rounds where stream_id = ?').get(STREAM);
    const refusedBy = (round as { number: number }).number;
    const refused = { streamId: STREAM, seat: 12, receivedMs: SHOW_START_MS, refusedBy };
    passedMs = 100;
    expect(await show.store.recordWinners([refused])).toEqual([{ refusedBy }]);
    expect(await show.store.recordWinners([{ ...refused, refusedBy: -1 }])).toEqual(['later']);
    passedMs = 0;
    expect(await show.store.recordWinners([{ ...refused, refusedBy: -1 }])).toEqual(['won']);
  });

  test('[W-6] [W-7] decides the oldest claims of a round first', async () => {
    using _ = await openRoundOf(1_999);
    const claims = [
      ...claimsOf(STREAM, 4, SHOW_START_MS + 100),
      ...claimsOf(STREAM, 6, SHOW_START_MS + 50).slice(4),
    ];
    passedMs = 40;
    expect(await show.store.recordWinners(claims)).toEqual([
      ...Array(4).fill('later'),
      ...Array(2).fill('won'),
    ]);
  });

  test('[W-6] [W-7] decides a round whose claims wait for 100 ms before newer rounds of shorter games', async () => {
    const streams = [STREAM, uuidOf(3), uuidOf(4)];
    show = await openShow(streams);
    for (const [n, streamId] of streams.entries()) {
      const own = { id: uuidOf(10 + n), streamId, producer: PRODUCER };
      await show.store.requestWinners({ ...own, nowMs: SHOW_START_MS });
    }
    using sqlite = new Database(join(show.directory, DATABASE_FILE));
    sqlite.run('update winners_rounds set quizzes = 1999 where stream_id = ?', [STREAM]);
    const [long = '', ...short] = streams;
    const record = (longMs: number) =>
      show.store.recordWinners([
        ...claimsOf(long, 1, SHOW_START_MS + longMs),
        ...short.flatMap((streamId) => claimsOf(streamId, 1, SHOW_START_MS + 100)),
      ]);
    // Time for two rounds.
    passedMs = 30;
    expect(await record(100)).toEqual(['later', 'won', 'later']);
    expect(await record(0)).toEqual(['won', 'later', 'later']);
  });

  test('[W-7] [W-8] in a long game decides each of a thousand seats by all its answers', async () => {
    using sqlite = await openRoundOf(100);
    sqlite.run(
      `with recursive n (n) as (select 1 union all select n + 1 from n where n < 100)
       insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal, game)
       select 'quiz ' || n, n, stream_id, 'revealed', '?', '[]', 1, 1000, 'auto', game
       from n, winners_rounds`,
    );
    // Every seventh seat is right; the others are wrong once.
    const wrongAt = (seat: number) => (seat % 7 === 0 ? null : 1 + (seat % 100));
    const insert = sqlite.prepare(
      'insert into answers (quiz, seat, choice, received) values (?, ?, ?, 0)',
    );
    sqlite.transaction(() => {
      for (let seat = 0; seat < 1_000; seat++) {
        for (let quiz = 1; quiz <= 100; quiz++)
          insert.run(quiz, seat, quiz === wrongAt(seat) ? 0 : 1);
      }
    })();
    const claims = claimsOf(STREAM, 1_000);
    expect(await show.store.recordWinners(claims)).toEqual(
      claims.map(({ seat }) =>
        wrongAt(seat) === null ? 'won' : { refusedBy: expect.any(Number) },
      ),
    );
  });
});

test('[L-13] a stream has at most 2,000 winners rounds', async () => {
  show = await openShow([STREAM, uuidOf(3)]);
  using sqlite = new Database(join(show.directory, DATABASE_FILE));
  sqlite.run(
    `with recursive n (n) as (select 1 union all select n + 1 from n where n < 1999)
     insert into winners_rounds (id, number, stream_id, game, quizzes, state, requested, count)
     select 'round ' || n, 1000000 + n, ?, n, 0, 'closed', 0, 0 from n`,
    [STREAM],
  );
  const request = (streamId: string, number: number) =>
    show.store.requestWinners({
      ...{ id: uuidOf(number), streamId, producer: PRODUCER },
      nowMs: SHOW_START_MS,
    });
  await request(STREAM, 10);
  sqlite.run(`update winners_rounds set state = 'closed', count = 0`);
  const error = await request(STREAM, 11).catch((thrown) => thrown);
  expect(error).toMatchObject({ kind: 'conflict', message: expect.stringContaining('2000') });
  expect(await request(uuidOf(3), 12)).toMatchObject({ state: 'open' });
});

test('[W-14] a round counts at most 1,000 contact details', async () => {
  await openRound();
  using sqlite = new Database(join(show.directory, DATABASE_FILE));
  const countAfter = async (details: number) => {
    sqlite.run(
      `with recursive n (n) as (select 1 union all select n + 1 from n where n < ${details})
       insert or ignore into winner_contacts (round, seat, name, contact, created)
       select number, n, 'a', 'b', 0 from n, winners_rounds`,
    );
    const own = { streamId: STREAM, producer: PRODUCER };
    return (await show.store.listWinnersRounds(own)).map(({ contacts }) => contacts);
  };
  expect(await countAfter(999)).toEqual([999]);
  expect(await countAfter(1_500)).toEqual([1_000]);
});

test('[L-13] [W-14] at most 100 winners rounds of a stream ask for contact details', async () => {
  show = await openShow([STREAM, uuidOf(3)]);
  using sqlite = new Database(join(show.directory, DATABASE_FILE));
  const addRounds = (streamId: string, count: number) =>
    sqlite.run(
      `with recursive n (n) as (select 1 union all select n + 1 from n where n < ?)
       insert into winners_rounds (id, number, stream_id, game, quizzes, state, requested, count)
       select ? || ' ' || n, (select coalesce(max(number), 0) from winners_rounds) + n, ?, n, 0,
         'closed', 0, 0 from n`,
      [count, streamId, streamId],
    );
  addRounds(STREAM, 101);
  addRounds(uuidOf(3), 1);
  const ask = (streamId: string, n: number, note = 'Where may we send your prize?') =>
    show.store.requestContacts({
      ...{ streamId, producer: PRODUCER, roundId: `${streamId} ${n}` },
      note,
    });
  for (let n = 1; n <= 100; n++) await ask(STREAM, n);
  const error = await ask(STREAM, 101).catch((thrown) => thrown);
  expect(error).toMatchObject({ kind: 'conflict', message: expect.stringContaining('100 rounds') });
  expect(await ask(STREAM, 100, 'Which size?')).toMatchObject({ contactNote: 'Which size?' });
  expect(await ask(uuidOf(3), 1)).toMatchObject({ state: 'closed' });
  const first = { streamId: STREAM, producer: PRODUCER, roundId: `${STREAM} 1` };
  await show.store.endContactRequest(first);
  expect(await ask(STREAM, 101)).toMatchObject({ state: 'closed' });
});

describe('the winners that the studio and the display get', () => {
  /** Closes a round that seats below `count` win; of every hundred the last has a name. */
  async function playRound(count: number) {
    show = await openShow([STREAM]);
    const own = { id: uuidOf(2), streamId: STREAM, producer: PRODUCER };
    const interval = intervalAt(SHOW_START_MS);
    await show.store.startStream({ id: STREAM, producer: PRODUCER, nowMs: SHOW_START_MS });
    const seats = Array.from({ length: count }, (_, seat) => seat);
    await show.store.takeSeats(
      seats.map((seat) => ({ streamId: STREAM, viewer: `viewer ${seat}`, seat })),
    );
    const named = seats.filter((seat) => seat % 100 === 99);
    await show.store.nameViewers(
      named.map((seat) => ({ streamId: STREAM, seat, name: `name ${seat}`, messageId: `${seat}` })),
    );
    await seal(-1, interval - 1);
    await show.store.requestWinners({ ...own, nowMs: SHOW_START_MS });
    await seal(interval - 1, interval);
    const claims = seats.map((seat) => ({ streamId: STREAM, seat, receivedMs: SHOW_START_MS + 1 }));
    await show.store.recordWinners([...claims, ...claims.slice(0, 10)]);
    await seal(interval, interval + 2);
    await seal(interval + 2, interval + 4);
    const nowMs = intervalStartMs(interval + 5);
    const { round, winners } = await show.store.readLiveShow({
      ...{ id: STREAM, producer: PRODUCER },
      nowMs,
    });
    return { count: round?.count, winners, named };
  }

  test('[B-13] are 100 of a thousand, each once, those with names first', async () => {
    const { count, winners, named } = await playRound(1_000);
    expect(count).toBe(1_000);
    expect(winners).toHaveLength(100);
    expect(new Set(winners.map(({ seat }) => seat)).size).toBe(100);
    expect(winners.slice(0, 10).map(({ name }) => name)).toEqual(
      named.map((seat) => `name ${seat}`),
    );
    expect(winners[10]).toEqual({ seat: 0, name: null, isModerated: false });
  });

  test('[B-13] are the first seats of a larger round', async () => {
    const { winners } = await playRound(1_001);
    expect(winners.map(({ seat }) => seat)).toEqual(Array.from({ length: 100 }, (_, at) => at));
    expect(winners.at(-1)).toEqual({ seat: 99, name: 'name 99', isModerated: false });
  });
});
