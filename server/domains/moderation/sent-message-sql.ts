import { messagesOf } from '../../../protocol/chat-messages.ts';
import type { Chats, EventsInterval } from '../../../protocol/feed.ts';
import type { LoggedMessage, SentMessage } from '../../../protocol/history.ts';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import { DomainError } from '../../platform/errors.ts';
import { type SealedBody, sealedPage } from '../../realtime/feed/sealed-sql.ts';
import { readProcedure, type Tx } from '../../storage/sql/procedure.ts';
import { type OwnStream, ownStream } from '../streams/streams-sql.ts';

/** A search of intervals between `from` and `to` (inclusive) for a message. */
interface MessageSearch extends OwnStream {
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

export interface SearchedPage {
  /** The message as viewers received it; null when the page does not have it. */
  readonly message: StoredChatMessage | null;
  /** `from` of the next page; null after the last one. */
  readonly next: number | null;
}

/**
 * The most that one page examines: 0.2 ms with SQLite, at most 3 ms. `like` begins again at each character that
 * is the first of its pattern: texts of viewers full of `{` took it four times as long.
 */
const PAGE_LIMITS = { limit: 240, bytesMax: 128 * 1024 };

export const sentMessageProcedures = {
  /**
   * Searches the first page of the intervals for a chat message.
   * @throws DomainError `not-found` when the account has no such stream
   */
  searchSentMessage: readProcedure(async (tx, input: MessageSearch): Promise<SearchedPage> => {
    const { streamId, producer, id, from, to } = input;
    await ownStream(tx, streamId, producer);
    const page = await sealedPage(tx, { streamId, from, to, ...PAGE_LIMITS });
    const last = page.at(-1);
    return {
      message: messageIn(page, id),
      next: last && Number(last.interval) < to ? Number(last.interval) + 1 : null,
    };
  }),
};

export const messageNotSent = () =>
  new DomainError('not-found', 'No such message was sent in this stream.');

function messageIn(page: readonly SealedBody[], id: string): StoredChatMessage | null {
  // Custom events of the producer may contain the same text; texts of viewers have no plain quotation mark.
  const start = `{"id":"${id}",`;
  for (const { body } of page) {
    if (!body.includes(start)) continue;
    const found = messagesIn(JSON.parse(body)).find((message) => message.id === id);
    if (!found) continue;
    const { interval: _, ...message } = found;
    return message;
  }
  return null;
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
