import type { ChatElement } from '../../../protocol/feed.ts';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { composeInterval } from '../../../server/realtime/feed/interval-body.ts';
import { openMigratedSqlite } from '../../../server/storage/sql/sqlite.ts';

/** The text of a message. @param n from 1, the oldest */
export const messageText = (n: number) =>
  `Line ${n} ${'and some more of it '.repeat(n % 7)}`.trim();

/**
 * Writes chat messages into the database of a stopped service, as many per interval as allowed; the
 * last interval is the one before now. Each seventh message is a question.
 * @param data folder of the database
 * @returns the first interval with messages
 */
export async function fillChat(data: string, streamId: string, messages: number): Promise<number> {
  const sqlite = await openMigratedSqlite(data);
  const intervals = Math.ceil(messages / CHAT_SAMPLE);
  const first = intervalAt(Date.now()) - intervals;
  await sqlite.query('begin');
  for (let index = 0; index < intervals; index++) {
    const before = index * CHAT_SAMPLE;
    const row = [
      streamId,
      first + index,
      bodyOf(first + index, before, Math.min(messages, before + CHAT_SAMPLE)),
    ];
    await sqlite.query('insert into sealed_intervals values ($1, $2, $3)', row);
  }
  await sqlite.query('commit');
  await sqlite.close();
  return first;
}

/** The body of an interval with messages `before + 1` to `until`. */
function bodyOf(interval: number, before: number, until: number): string | null {
  const all = Array.from({ length: until - before }, (_, n) =>
    messageOf(before + n + 1, intervalStartMs(interval) + n),
  );
  const chats = {
    messages: all.filter((_, n) => n % 7 !== 0),
    questions: all.filter((_, n) => n % 7 === 0),
    ...{ greetings: [], cheers: [], hearts: 0 },
  };
  return composeInterval(interval, { viewCount: null, chats }, []).body;
}

function messageOf(n: number, atMs: number): ChatElement {
  const viewer = `viewer-${n % 500}`;
  return { id: `line-${n}`, viewer, name: `Viewer ${n % 500}`, text: messageText(n), at: atMs };
}
