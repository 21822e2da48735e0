import type { ChatElement } from '../../../protocol/feed.ts';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { composeInterval } from '../../../server/realtime/feed/interval-body.ts';
import { openMigratedSqlite } from '../../../server/storage/sql/sqlite.ts';

/** What a line says. @param n from 1, the oldest */
export const textOf = (n: number) => `Line ${n} ${'and some more of it '.repeat(n % 7)}`.trim();

/**
 * Writes lines of the chat into a record that no service has open, as many in an interval as may be
 * in one; the last is in the interval before now. Each seventh line is a question.
 * @param data the folder of the database
 * @returns the first interval with lines
 */
export async function fillChat(data: string, streamId: string, lines: number): Promise<number> {
  const sqlite = await openMigratedSqlite(data);
  const intervals = Math.ceil(lines / CHAT_SAMPLE);
  const first = intervalAt(Date.now()) - intervals;
  await sqlite.query('begin');
  for (let at = 0; at < intervals; at++) {
    const before = at * CHAT_SAMPLE;
    const row = [
      streamId,
      first + at,
      bodyOf(first + at, before, Math.min(lines, before + CHAT_SAMPLE)),
    ];
    await sqlite.query('insert into sealed_intervals values ($1, $2, $3)', row);
  }
  await sqlite.query('commit');
  await sqlite.close();
  return first;
}

/** @param before so many lines were before it. @param until so many are then */
function bodyOf(interval: number, before: number, until: number): string | null {
  const all = Array.from({ length: until - before }, (_, n) =>
    lineOf(before + n + 1, intervalStartMs(interval) + n),
  );
  const chats = {
    messages: all.filter((_, n) => n % 7 !== 0),
    questions: all.filter((_, n) => n % 7 === 0),
    ...{ greetings: [], cheers: [], hearts: 0 },
  };
  return composeInterval(interval, { viewCount: null, chats }, []).body;
}

function lineOf(n: number, at: number): ChatElement {
  const viewer = `viewer-${n % 500}`;
  return { id: `line-${n}`, viewer, name: `Viewer ${n % 500}`, text: textOf(n), at };
}
