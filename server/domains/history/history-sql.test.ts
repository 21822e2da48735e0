import { expect, test } from 'bun:test';
import { HISTORY_INTERVALS } from '../../../protocol/limits.ts';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { composeInterval } from '../../realtime/feed/interval-body.ts';
import { type AudiencePage, historyProcedures } from './history-sql.ts';

const sqlite = await sqliteOfFile();

const storeInterval = (streamId: string, interval: number, body: string | null) =>
  sqlite.query('insert into sealed_intervals values ($1, $2, $3)', [streamId, interval, body]);

/** Stores a stream with `intervals` intervals, each with a message, the first also with an event. */
async function storeShow(streamId: string, intervals: number, text: string): Promise<void> {
  await insertStream(sqlite, streamId, intervals);
  const message = { id: 'l', viewer: 'v', name: '', text, at: 0 };
  const quiet = { questions: [], greetings: [], cheers: [], hearts: 0 };
  const transient = { viewCount: null, chats: { ...quiet, messages: [message] } };
  const event = { streamId, number: 0, type: 'lights', data: 'null' };
  for (let interval = 0; interval < intervals; interval++) {
    const { body } = composeInterval(interval, transient, interval === 0 ? [event] : []);
    await storeInterval(streamId, interval, body);
  }
}

const pageBefore = (streamId: string, before: number | null) => ({
  streamId,
  producer: 'a',
  before,
  limit: 20,
});

test('[B-8] a page examines at most 2,400 intervals and returns where the next one begins', async () => {
  await storeShow('long', HISTORY_INTERVALS + 10, 'Hello');
  const first = await historyProcedures.readSentLog.run(sqlite, pageBefore('long', null));
  expect(first).toEqual({ results: [], next: 10 });
  const second = await historyProcedures.readSentLog.run(sqlite, pageBefore('long', 10));
  expect(second).toEqual({ results: [{ interval: 0, type: 'lights', data: null }], next: null });
});

test('[B-8] [B-10] a page examines at most 4 MB', async () => {
  await storeShow('loud', 12, 'x'.repeat(1024 * 1024));
  const log = await historyProcedures.readSentLog.run(sqlite, pageBefore('loud', null));
  expect(log).toEqual({ results: [], next: 8 });
  const chat = { ...pageBefore('loud', null), kind: null };
  const { results, next } = await historyProcedures.readChatLog.run(sqlite, chat);
  expect(results.map(({ interval }) => interval)).toEqual([11, 10, 9, 8]);
  expect(next).toBe(8);
});

test('[B-9] [L-19] a page of the audience examines at most 4 MB, and names the next one', async () => {
  await insertStream(sqlite, 'crowd', 20);
  const event = { streamId: 'crowd', number: 0, type: 'lights', data: '' };
  event.data = JSON.stringify('x'.repeat(1024 * 1024));
  for (let interval = 0; interval < 20; interval++) {
    const viewCount = interval % 4 === 3 ? { value: interval, formatted: `${interval}` } : null;
    const { body } = composeInterval(interval, { viewCount, chats: null }, [event]);
    await storeInterval('crowd', interval, body);
  }
  const pages: AudiencePage[] = [];
  for (let from: number | null = 2; from !== null; from = pages.at(-1)?.next ?? null) {
    const input = { streamId: 'crowd', producer: 'a', from, to: 18 };
    pages.push(await historyProcedures.readAudience.run(sqlite, input));
  }
  expect(pages.map(({ next }) => next)).toEqual([6, 10, 14, 18, null]);
  expect(pages.flatMap(({ counts }) => counts)).toEqual(
    [3, 7, 11, 15].map((interval) => ({ interval, count: interval })),
  );
});

test('[B-10] events that look like chat messages do not hide messages', async () => {
  await storeShow('lookalike', 3, 'Hello');
  const own = { streamId: 'lookalike', number: 1, type: 'look', data: '{"messages":[{"id":"x"}]}' };
  for (let interval = 3; interval < 6; interval++) {
    const { body } = composeInterval(interval, { viewCount: null, chats: null }, [own]);
    await storeInterval('lookalike', interval, body);
  }
  const page = { ...pageBefore('lookalike', null), limit: 2, kind: 'message' as const };
  const intervals: number[] = [];
  let before: number | null = null;
  do {
    const { results, next } = await historyProcedures.readChatLog.run(sqlite, { ...page, before });
    intervals.push(...results.map(({ interval }) => interval));
    before = next;
  } while (before !== null);
  expect(intervals).toEqual([2, 1, 0]);
});
