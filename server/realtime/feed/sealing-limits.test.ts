import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { CHOICE_CHARS, CHOICES_MAX, QUESTION_CHARS } from '../../../protocol/limits.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  sealShow,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import { DATABASE_FILE } from '../../storage/sql/sqlite.ts';
import {
  ALL_CLOSES_MAX,
  ALL_EVENT_BYTES,
  ALL_RESULT_BYTES,
  EVENT_OVERHEAD_BYTES,
  STREAM_CLOSES_MAX,
  STREAM_ENDS_MAX,
  STREAM_EVENT_BYTES,
} from './sealing-limits.ts';

const [LARGE, OTHER] = [uuidOf(1), uuidOf(2)];
const FIRST = intervalAt(SHOW_START_MS);
const own = { producer: PRODUCER, nowMs: SHOW_START_MS };

let show: Show;
let sqlite: Database;
let sealed = -1;

beforeEach(async () => {
  show = await openShow([LARGE, OTHER]);
  sqlite = new Database(join(show.directory, DATABASE_FILE));
  sealed = FIRST - 1;
  sqlite.run('update watermark set interval = ?', [sealed]);
});
afterEach(async () => {
  sqlite.close();
  await show.close();
});

/** Seals the next interval, or a later one. @returns the events of each stream that has some */
async function seal(interval = sealed + 1) {
  const time = { interval, nowMs: intervalStartMs(interval + 1) };
  const bodies = await sealShow(show, { after: sealed, ...time, transients: [] });
  sealed = interval;
  return new Map(
    bodies.map(({ streamId, body }) => {
      const { events }: { events: { type: string; data: unknown }[] } = JSON.parse(body);
      return [streamId, events];
    }),
  );
}

const send = (streamId: string, data: Record<string, unknown>, type = 'custom') =>
  show.store.recordProducerEvent({ ...own, streamId, event: { type, data } });

/** Creates streams with numbers from `from` on. */
function createStreams(count: number, from: number): string[] {
  const ids = Array.from({ length: count }, (_, n) => uuidOf(from + n));
  const insert = sqlite.prepare(
    `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status, created)
     values (?, ?, ?, 'A show', 0, 0, 'CREATED', 0)`,
  );
  sqlite.transaction(() => {
    for (const [n, id] of ids.entries()) insert.run(id, from + n, PRODUCER);
  })();
  return ids;
}

async function publishQuiz(streamId: string): Promise<void> {
  const id = crypto.randomUUID();
  const quiz = { question: '?', choices: ['a', 'b'], answer: 'a', duration: 1_000 };
  const draft = { ...own, id, streamId, quiz: { ...quiz, reveal: 'auto' as const } };
  await show.store.createQuiz(draft);
  await show.store.publishQuiz({ ...own, id });
}

const large = { text: 'x'.repeat(4_000) };

test('[I-2] [F-14] [F-15] events of a stream that do not fit into an interval follow in the next ones, in order', async () => {
  const perInterval = Math.ceil(STREAM_EVENT_BYTES / (4_000 + EVENT_OVERHEAD_BYTES + 30));
  const count = 2 * perInterval + 1;
  for (let number = 0; number < count; number++) await send(LARGE, { number, ...large });
  await send(OTHER, { number: -1 });
  const numbers: number[][] = [];
  for (let n = 0; n < 4; n++) {
    const events = await seal();
    expect(events.has(OTHER)).toBe(n === 0);
    numbers.push((events.get(LARGE) ?? []).map(({ data }) => (data as { number: number }).number));
  }
  expect(numbers.flat()).toEqual(Array.from({ length: count }, (_, number) => number));
  expect(numbers.map(({ length }) => length)).toEqual([perInterval, perInterval, 1, 0]);
});

test('[C-10] [F-14] waiting purchases do not hold up other events', async () => {
  for (let n = 0; n < 600; n++) {
    await send(LARGE, { name: 'A', text: `${n}` }, 'purchase');
  }
  await send(LARGE, { number: 1 });
  const events = (await seal()).get(LARGE);
  expect(events?.map(({ type }) => type)).toEqual(['chats', 'custom']);
});

test('[F-14] of the events of many streams the first ones of each go first, and the others follow', async () => {
  const ids = createStreams(50, 1_000);
  const insert = sqlite.prepare('insert into outbox values (?, ?, ?, ?)');
  const text = JSON.stringify(large);
  sqlite.transaction(() => {
    for (const id of ids)
      for (let number = 0; number < 50; number++) insert.run(id, number, 'custom', text);
  })();
  await send(OTHER, large);
  const first = await seal();
  expect(first.get(OTHER)).toHaveLength(1);
  const counts = ids.map((id) => first.get(id)?.length ?? 0);
  const size = Buffer.byteLength(text) + EVENT_OVERHEAD_BYTES;
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  const total = 1 + counts.reduce((sum, count) => sum + count);
  expect(total).toBe(Math.ceil(ALL_EVENT_BYTES / size));
  let left = 50 * 50 + 1 - total;
  while (left > 0) {
    const events = [...(await seal()).values()].flat().length;
    expect(events).toBe(Math.min(left, total));
    left -= events;
  }
});

test('[Q-16] [F-15] a quiz does not close before the events that wait in its stream, nor the results before the quiz', async () => {
  for (let n = 0; n < 70; n++) await send(LARGE, large);
  await publishQuiz(LARGE);
  await publishQuiz(OTHER);
  const first = await seal(FIRST + 8);
  const typesOf = (events: Awaited<ReturnType<typeof seal>>, id: string) =>
    events.get(id)?.map(({ type }) => type);
  expect(new Set(typesOf(first, LARGE))).toEqual(new Set(['custom']));
  expect(typesOf(first, OTHER)).toEqual(['quiz', 'quiz-results']);
  const types = typesOf(await seal(), LARGE);
  expect(types?.slice(-3)).toEqual(['custom', 'quiz', 'quiz-results']);
});

/** Opens quizzes in the database, as many as a test needs. */
function quizOpener(question = '?', choices: readonly string[] = ['a', 'b']) {
  const insert = sqlite.prepare(
    `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal, created,
       close_interval, game, position)
     values (?, ?, ?, 'open', ?, ?, 0, 1000, 'auto', 0, ?, 0, 0)`,
  );
  let number = 0;
  return (id: string, interval: number) =>
    insert.run(`${++number}`, number, id, question, JSON.stringify(choices), interval);
}

test('[Q-16] at most 16 quizzes of a stream and 500 in all close in one interval, the others in the next ones', async () => {
  const ids = createStreams(ALL_CLOSES_MAX - 1, 1_000);
  const open = quizOpener();
  for (let n = 0; n < STREAM_CLOSES_MAX + 2; n++) open(LARGE, FIRST);
  const first = await seal();
  expect(first.get(LARGE)).toHaveLength(STREAM_CLOSES_MAX);
  for (const id of [OTHER, ...ids]) open(id, FIRST + 1);
  const second = await seal();
  // One quiz of each stream; the second one of the large stream waits.
  expect([...second.values()].flat()).toHaveLength(ALL_CLOSES_MAX);
  const third = await seal();
  const rest = [...third.values()].flat();
  expect(rest.map(({ type }) => type)).toEqual(['quiz-results', 'quiz-results']);
  expect(await seal()).toEqual(new Map());
});

test('[Q-16] quizzes close until their results have 2 MB in one interval, the others in the next ones', async () => {
  const count = 128;
  const choices = Array.from({ length: CHOICES_MAX }, (_, n) => '𝄞'.repeat(CHOICE_CHARS - 1) + n);
  const open = quizOpener('𝄞'.repeat(QUESTION_CHARS), choices);
  for (const id of createStreams(count, 1_000)) open(id, FIRST);
  const closed: number[] = [];
  let left = count;
  while (left > 0) {
    const events = [...(await seal()).values()].flat();
    const sizes = events.map((event) => Buffer.byteLength(JSON.stringify(event)));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeLessThan(ALL_RESULT_BYTES + Math.max(...sizes));
    closed.push(events.length);
    left -= events.length;
  }
  expect(closed).toHaveLength(2);
});

test('[Q-16] many due quizzes of one account do not delay those of another', async () => {
  const open = quizOpener();
  for (const id of createStreams(ALL_CLOSES_MAX + 1, 1_000)) open(id, FIRST);
  const [other] = createStreams(1, 10_000) as [string];
  sqlite.run(`insert into accounts values ('other', 'b@example.org', 'B', 0)`);
  sqlite.run(`update streams set producer = 'other' where id = ?`, [other]);
  open(other, FIRST);
  open(other, FIRST);
  const first = await seal();
  expect([...first.values()].flat()).toHaveLength(ALL_CLOSES_MAX);
  expect(first.get(other)).toHaveLength(2);
});

test('[P-14] at most 1,000 streams end in one interval, those that are due longest first', async () => {
  createStreams(STREAM_ENDS_MAX + 1, 1_000);
  sqlite.run(`update streams set ends_at = ? where number >= 1000`, [SHOW_START_MS]);
  sqlite.run(`update streams set ends_at = ? where id = ?`, [SHOW_START_MS - 1, LARGE]);
  const left = () =>
    sqlite.query('select count(*) as n from streams where ends_at is not null').get();
  await seal();
  expect(left()).toEqual({ n: 2 });
  const stream = sqlite.query('select status from streams where id = ?').get(LARGE);
  expect(stream).toEqual({ status: 'ENDED' });
  await seal();
  expect(left()).toEqual({ n: 0 });
});

test('[K-7] set-back ends more streams than end in one interval, and publishes what waits', async () => {
  createStreams(STREAM_ENDS_MAX + 1, 1_000);
  sqlite.run(`update streams set status = 'STREAMING'`);
  for (let n = 0; n < 200; n++) await send(LARGE, large);
  const systemMs = SHOW_START_MS - 3_600_000;
  const { streams } = await show.store.setServiceTimeBack({ systemMs });
  expect(streams).toHaveLength(STREAM_ENDS_MAX + 3);
  const count = (source: string) => sqlite.query(`select count(*) as n from ${source}`).get();
  expect(count(`streams where status <> 'ENDED'`)).toEqual({ n: 0 });
  expect(count('outbox')).toEqual({ n: 0 });
  const last = sqlite.query('select max(interval) as n from sealed_intervals').get();
  expect(sqlite.query('select min(sealed_until) as n from streams').get()).toEqual(last);
});
