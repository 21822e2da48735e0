import { expect, test } from 'bun:test';
import { INTERVAL_MS } from '../../../protocol/interval.ts';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { composeInterval } from '../../realtime/feed/interval-body.ts';
import { findSentMessage } from './sent-message-sql.ts';

const SEALED = 1_000;
const MINUTE = 60_000 / INTERVAL_MS;
const sqlite = await sqliteOfFile();
await insertStream(sqlite, 's');

test.each([
  ['in its interval of arrival', 0, true],
  ['in the interval before its arrival', 1, true],
  ['seconds before its arrival, as when sealing is late', 20, true],
  ['long after its arrival, as many purchases are', -100, true],
  ['more than a minute away and finds none', MINUTE + 1, false],
])(
  '[C-17] findSentMessage looks for a message sealed %s',
  async (name, intervalsLater, isFound) => {
    const id = name.replaceAll(/[^a-z]/g, '-').slice(0, 36);
    const at = (SEALED + intervalsLater) * INTERVAL_MS;
    const message = { id, viewer: 'v', name: '', text: 'Hello', at };
    const chats = { messages: [message], questions: [], greetings: [], cheers: [], hearts: 0 };
    const { body } = composeInterval(SEALED, { viewCount: null, chats }, []);
    await sqlite.query('delete from sealed_intervals');
    await sqlite.query(`insert into sealed_intervals values ('s', $1, $2)`, [SEALED, body]);
    const found = await findSentMessage(sqlite, 's', message).catch((error) => error.kind);
    expect(found).toEqual(isFound ? { ...message, kind: 'message' } : 'not-found');
  },
);
