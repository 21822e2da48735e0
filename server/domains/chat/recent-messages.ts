import { LRUCache } from 'lru-cache';
import type { EventsInterval } from '../../../protocol/feed.ts';
import { CHAT_RECENT } from '../../../protocol/limits.ts';
import type { HiddenMessages, StoredChatMessage } from '../../../protocol/moderation.ts';
import { NetworkLimiter } from '../../http/network-limiter.ts';
import { SharedReads } from '../../platform/shared-reads.ts';
import type { FeedLog } from '../../realtime/feed/feed-log.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { messagesIn } from '../moderation/sent-message-sql.ts';
import { KEPT_MESSAGES, type recentMessageProcedures } from './recent-messages-sql.ts';

export interface RecentMessagesDeps {
  readonly feed: Pick<FeedLog, 'watermark' | 'range'>;
  readonly store: Pick<Calls<typeof recentMessageProcedures>, 'readRecentMessages'>;
}

/** The end of a chat, up to an interval. */
interface ChatTail {
  /** The last interval whose messages are in it. */
  through: number;
  /** Oldest first. */
  messages: readonly StoredChatMessage[];
  /** Ids of messages that were hidden when, or after, they were read. */
  readonly hidden: Set<string>;
  /** The JSON that was sent last, and the hidden messages that it left out. */
  sent: { readonly json: string; readonly hidden: readonly string[] } | null;
}

/** Streams whose chat is in memory: at most 100 MB with the longest texts, usually 20 KB a stream. */
const CHATS_MAX = 1_000;
/** A chat that was not read for longer is read from the database again. */
const BEHIND_MAX_INTERVALS = 200;
/**
 * Chats that are read from the database at once. A full one takes 17 ms (measured): a client with viewer tokens of
 * 1,001 old streams, which need a read each time, took the only reader of SQLite.
 */
const CHAT_READS_MAX = 2;
/** At 17 ms a read, one after the other in SQLite, the last of them waits 0.5 s. */
const CHAT_READS_QUEUED_MAX = 32;
const HAS_EVENTS = Buffer.from('"chat');
const decoder = new TextDecoder();

/**
 * The newest chat messages of each stream, for viewers who join late. They are the messages of sealed
 * intervals, so every node has the same ones, also after a restart. A chat is read from the database
 * once; afterwards each sealed interval is read from memory once, however many viewers join.
 */
export class RecentMessages {
  readonly #chats = new LRUCache<string, ChatTail>({ max: CHATS_MAX });
  readonly #updates = new SharedReads<ChatTail>();
  readonly #reads = new NetworkLimiter(
    CHAT_READS_MAX,
    CHAT_READS_QUEUED_MAX,
    'Too many chats are being read at once.',
  );

  constructor(private readonly deps: RecentMessagesDeps) {}

  /**
   * The newest messages that are not hidden, oldest first, as JSON.
   * @param hidden ids of messages hidden last; the same array gives the same JSON within an interval
   * @param client rate limit key of the client: networks take turns to read chats from the database
   * @throws Unavailable
   */
  async json(streamId: string, hidden: readonly string[], client: string): Promise<string> {
    const chat = await this.#upToDate(streamId, client);
    if (chat.sent?.hidden === hidden) return chat.sent.json;
    const hiddenNow = new Set(hidden);
    const visible = chat.messages.filter(({ id }) => !chat.hidden.has(id) && !hiddenNow.has(id));
    const json = JSON.stringify(visible.slice(-CHAT_RECENT));
    chat.sent = { json, hidden };
    return json;
  }

  #upToDate(streamId: string, client: string): ChatTail | Promise<ChatTail> {
    const chat = this.#chats.get(streamId);
    if (chat?.through === this.deps.feed.watermark()) return chat;
    return this.#updates.run(streamId, () => this.#update(streamId, client, chat));
  }

  async #update(streamId: string, client: string, chat?: ChatTail): Promise<ChatTail> {
    const { feed, store } = this.deps;
    const to = feed.watermark();
    if (chat && to >= chat.through && to - chat.through <= BEHIND_MAX_INTERVALS) {
      await this.#append(streamId, chat, to);
      return chat;
    }
    const tail = await this.#reads.run(client, async (): Promise<ChatTail> => {
      // Not `to`: this read may have waited for its turn.
      const through = feed.watermark();
      const { messages, hidden } = await store.readRecentMessages({ streamId, to: through });
      return { through, messages, hidden: new Set(hidden), sent: null };
    });
    this.#chats.set(streamId, tail);
    return tail;
  }

  async #append(streamId: string, chat: ChatTail, to: number): Promise<void> {
    // A client of its own: all unknown clients together may have only 12 reads (F-3).
    const client = () => `chat:${streamId}`;
    while (chat.through < to) {
      const { page, next } = await this.deps.feed.range(streamId, chat.through + 1, to, client);
      for (const { body } of page) {
        if (Buffer.from(body.buffer, body.byteOffset, body.length).includes(HAS_EVENTS))
          append(chat, JSON.parse(decoder.decode(body)));
      }
      chat.through = next - 1;
    }
  }
}

function append(chat: ChatTail, interval: EventsInterval): void {
  chat.sent = null;
  const added = messagesIn(interval).map(({ interval: _, ...message }) => message);
  chat.messages = [...chat.messages, ...added].slice(-KEPT_MESSAGES);
  for (const { type, data } of interval.events) {
    if (type !== 'chat-hidden') continue;
    for (const id of (data as HiddenMessages).ids) chat.hidden.add(id);
  }
  const kept = new Set(chat.messages.map(({ id }) => id));
  for (const id of chat.hidden) if (!kept.has(id)) chat.hidden.delete(id);
}
