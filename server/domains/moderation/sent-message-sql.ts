import { messagesOf } from '../../../protocol/chat-messages.ts';
import type { Chats, EventsInterval } from '../../../protocol/feed.ts';
import type { LoggedMessage, SentMessage } from '../../../protocol/history.ts';
import { intervalAt } from '../../../protocol/interval.ts';
import { MESSAGE_ID } from '../../../protocol/limits.ts';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Tx } from '../../storage/sql/procedure.ts';

// In intervals. A message is sealed in its interval of arrival, in an earlier one when sealing is late,
// or in a later one; purchases beyond 50 an interval wait longer.
const SEARCH_RADIUS = 240;
// Custom events of the producer may match the pattern too.
const BODIES_MAX = 10;

/**
 * Finds a chat message as viewers received it, so that a client cannot forge its text.
 * @param at its time of arrival, Unix ms, around which the search runs
 * @throws DomainError `not-found`
 */
export async function findSentMessage(
  tx: Tx,
  streamId: string,
  { id, at }: Pick<StoredChatMessage, 'id' | 'at'>,
): Promise<StoredChatMessage> {
  const notFound = new DomainError('not-found', 'No such message was sent in this stream.');
  // The id becomes a part of the pattern, so it must not contain wildcards.
  if (!MESSAGE_ID.test(id)) throw notFound;
  const arrival = intervalAt(at);
  const rows = await tx.query<{ body: string }>(
    `select body from sealed_intervals
     where stream_id = $1 and interval between $2 and $3 and body like $4
     order by interval limit $5`,
    [streamId, arrival - SEARCH_RADIUS, arrival + SEARCH_RADIUS, `%{"id":"${id}",%`, BODIES_MAX],
  );
  const found = rows
    .flatMap(({ body }) => messagesIn(JSON.parse(body)))
    .find((message) => message.id === id);
  if (!found) throw notFound;
  const { interval: _, ...message } = found;
  return message;
}

export function messagesIn({ interval, events }: EventsInterval): SentMessage[] {
  return events
    .filter(({ type }) => type === 'chats')
    .flatMap(({ data }) => messagesOf(data as Chats))
    .map((message) => ({ interval, ...message }));
}

/** Adds to each message of a stream whether it is hidden. */
export async function withHiddenFlag(
  tx: Tx,
  streamId: string,
  messages: readonly SentMessage[],
): Promise<LoggedMessage[]> {
  const ids = messages.map(({ id }) => id);
  const hidden = await hiddenIdsAmong(tx, streamId, ids);
  return messages.map((message) => ({ ...message, hidden: hidden.has(message.id) }));
}

export async function hiddenIdsAmong(
  tx: Tx,
  streamId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ line: string }>(
    `select line from hidden_lines where stream_id = $1
     and line in (select id from ${tx.rows('$2', ['id text'])} requested)`,
    [streamId, JSON.stringify(ids.map((id) => [id]))],
  );
  return new Set(rows.map(({ line }) => line));
}
