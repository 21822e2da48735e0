import { beforeEach, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { LargeOperations } from '../../auth/large-operations.ts';
import type { StudioCall } from '../../auth/studio-handler.ts';
import { Pace } from '../../platform/pace.ts';
import { composeInterval } from '../../realtime/feed/interval-body.ts';
import type { Tx } from '../../storage/sql/procedure.ts';
import { inTransaction } from '../../storage/sql/sqlite.ts';
import { findSentMessage } from './sent-message-search.ts';
import { sentMessageProcedures } from './sent-message-sql.ts';

const SEALED = 1_000;
const MINUTE = 60_000 / INTERVAL_MS;
const sqlite = await sqliteOfFile();
await insertStream(sqlite, 's');
beforeEach(async () => {
  await sqlite.query('delete from sealed_intervals');
});

const messageOf = (id: string, text = 'Hello', at = SEALED * INTERVAL_MS) => {
  return { id, viewer: 'v', name: '', text, at };
};

/** Stores an interval with messages. @returns its size in bytes */
async function seal(
  interval: number,
  messages: ReturnType<typeof messageOf>[],
  custom: unknown = null,
): Promise<number> {
  const chats = { messages, questions: [], greetings: [], cheers: [], hearts: 0 };
  const event = { streamId: 's', number: 1, type: 'custom', data: JSON.stringify(custom) };
  const { body } = composeInterval(interval, { viewCount: null, chats }, [event]);
  await sqlite.query(`insert into sealed_intervals values ('s', $1, $2)`, [interval, body]);
  return body?.length ?? 0;
}

/** Searches for a message. @returns it, or the kind of the error; and the bytes of bodies that each page read */
async function search(message: { id: string; at: number }) {
  const pages: number[] = [];
  const { run } = sentMessageProcedures.searchSentMessage;
  const deps = {
    store: {
      searchSentMessage: async (input: Parameters<typeof run>[1]) => {
        let bytes = 0;
        const query: Tx['query'] = async (text, params) => {
          const rows = await sqlite.query<never>(text, params);
          for (const { body } of rows as readonly { body?: string }[]) bytes += body?.length ?? 0;
          return rows;
        };
        const page = await run({ ...sqlite, query }, input);
        pages.push(bytes);
        return page;
      },
      isIdempotencyKeyUsed: async () => false,
    },
    messageSearches: new LargeOperations(new Pace(), () => {}),
  };
  const call = { producer: 'a', params: { stream_id: 's' }, idempotency: null };
  const caller = { user: { uuid: 'a' }, actor: { kind: 'token' } };
  const studioCall = { ...call, ...caller } as unknown as StudioCall;
  const found = await findSentMessage(deps, studioCall, message).catch((error) => error.kind);
  return { found, pages };
}

test.each([
  ['in its interval of arrival', 0, true],
  ['in the interval before its arrival', 1, true],
  ['seconds before its arrival, as when sealing is late', 20, true],
  ['long after its arrival, as many purchases are', -100, true],
  ['more than a minute away and finds none', MINUTE + 1, false],
])('[C-17] a search looks for a message sealed %s', async (_, intervalsLater, isFound) => {
  const message = messageOf(randomUUID(), 'Hello', (SEALED + intervalsLater) * INTERVAL_MS);
  await seal(SEALED, [message]);
  const { found } = await search(message);
  expect(found).toEqual(isFound ? { ...message, kind: 'message' } : 'not-found');
});

test('[C-17] a search finds a message behind any number of custom events that look like it', async () => {
  const message = messageOf(randomUUID());
  for (let before = 20; before > 0; before--) await seal(SEALED - before, [], [message]);
  await seal(SEALED, [message]);
  expect((await search(message)).found).toEqual({ ...message, kind: 'message' });
});

/**
 * Stores all intervals that a search examines, with 5 KB of text each.
 * @param message is in the middle one
 * @returns the sizes of the intervals in bytes
 */
const sealLongTexts = (message: ReturnType<typeof messageOf>) =>
  inTransaction(sqlite, async () => {
    const sizes: number[] = [];
    for (let interval = SEALED - MINUTE; interval <= SEALED + MINUTE; interval++) {
      const long = messageOf(randomUUID(), '{'.repeat(5_000));
      sizes.push(await seal(interval, interval === SEALED ? [long, message] : [long]));
    }
    return sizes;
  });

test('[L-19] a search reads each interval once, in pages of at most 128 KB and one interval', async () => {
  const sizes = await sealLongTexts(messageOf(randomUUID()));
  const { found, pages } = await search(messageOf(randomUUID()));
  expect(found).toBe('not-found');
  const sum = (bytes: number[]) => bytes.reduce((total, size) => total + size, 0);
  expect(sum(pages)).toBe(sum(sizes));
  expect(Math.max(...pages)).toBeLessThan(128 * 1024 + Math.max(...sizes));
});

test('[L-19] a search begins near the arrival and ends with the page of the message', async () => {
  const message = messageOf(randomUUID());
  await sealLongTexts(message);
  const { found, pages } = await search(message);
  expect(found).toEqual({ ...message, kind: 'message' });
  expect(pages).toHaveLength(1);
});

test('[C-20] a search for an invalid id reads nothing', async () => {
  expect(await search(messageOf(''))).toEqual({ found: 'not-found', pages: [] });
});
