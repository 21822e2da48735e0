import type { Database } from '../database.ts';
import { RedisError, syntaxError } from '../redis-error.ts';
import {
  FIRST_ID,
  formatStreamId,
  LAST_ID,
  parseStreamId,
  requireEntryId,
  Stream,
  type StreamEntry,
} from '../stream.ts';
import { atLeast, type Commands, exactly, parseInteger, type Reply } from './command.ts';

/** Commands for streams. */
export const STREAM_COMMANDS: Commands = {
  XADD: atLeast(4, add),
  XLEN: exactly(1, (database, [key = '']) => database.stream(key)?.length ?? 0),
  XTRIM: exactly(3, trim),
  XRANGE: exactly(3, (database, [key = '', from = '', to = '']) => {
    const first = from === '-' ? FIRST_ID : parseStreamId(from);
    const last = to === '+' ? LAST_ID : parseStreamId(to, LAST_ID.sequence);
    return (database.stream(key)?.range(first, last) ?? []).map(entryReply);
  }),
};

/** `XADD key id name value …`, or `XADD key MAXLEN count id name value …`. */
function add(database: Database, [key = '', ...words]: readonly string[]): Reply {
  const lengthMax = words[0] === 'MAXLEN' ? parseInteger(words[1]) : null;
  const [idText = '', ...fields] = lengthMax === null ? words : words.slice(2);
  if (fields.length === 0 || fields.length % 2 !== 0) {
    throw new RedisError("ERR wrong number of arguments for 'xadd' command");
  }
  if (lengthMax !== null && lengthMax < 0) {
    throw new RedisError('ERR The MAXLEN argument must be >= 0.');
  }
  const id = parseStreamId(idText);
  requireEntryId(id);
  const existing = database.stream(key);
  const stream = existing ?? new Stream();
  stream.add(id, fields);
  if (!existing) database.set(key, stream);
  database.changes += 1;
  if (lengthMax !== null) stream.keepNewest(lengthMax);
  database.appendedStreams.add(key);
  return formatStreamId(id);
}

/** `XTRIM key MINID id`. */
function trim(database: Database, [key = '', strategy, idText = '']: readonly string[]): Reply {
  if (strategy !== 'MINID') throw syntaxError();
  const first = parseStreamId(idText);
  const removed = database.stream(key)?.removeBefore(first) ?? 0;
  database.changes += removed;
  return removed;
}

export function entryReply({ id, fields }: StreamEntry): Reply {
  return [formatStreamId(id), fields];
}
