import { beforeEach, describe, expect, test } from 'bun:test';
import type { StoredChatMessage } from '../../../protocol/moderation.ts';
import { insertStream, sqliteOfFile } from '../../../test/support/database/sqlite-of-file.ts';
import { MemoryFeedLog } from '../../realtime/feed/feed-log-memory.ts';
import { composeInterval } from '../../realtime/feed/interval-body.ts';
import { RecentMessages } from './recent-messages.ts';
import { recentMessageProcedures } from './recent-messages-sql.ts';

const sqlite = await sqliteOfFile();
const FIRST = 1_000_000;
const EMPTY = { questions: [], greetings: [], cheers: [], hearts: 0 };
const NONE: readonly string[] = [];
const CLIENT = '192.0.2.1';
let streams = 0;

/** A stream with a feed; each interval is sealed by `seal`. */
class ChatFixture {
  reads = 0;
  interval = FIRST;
  recent: RecentMessages;
  private feed: MemoryFeedLog;
  private readonly store = {
    readRecentMessages: (input: { streamId: string; to: number }) => {
      this.reads++;
      return recentMessageProcedures.readRecentMessages.run(sqlite, input);
    },
    readSealed: () => Promise.reject(new Error('the interval is not in memory')),
  };

  constructor(readonly streamId: string) {
    this.feed = new MemoryFeedLog(this.store, FIRST);
    this.recent = new RecentMessages({ feed: this.feed, store: this.store });
  }

  /** Seals an interval with messages, ids by their texts, and ids of messages that it hides. */
  async seal(texts: readonly string[] = [], hides: readonly string[] = []): Promise<void> {
    this.interval++;
    const at = this.interval * 250;
    const messages = texts.map((text) => ({ id: text, viewer: 'v', name: 'Ada', text, at }));
    const chats = texts.length > 0 ? { ...EMPTY, messages } : null;
    const data = JSON.stringify({ ids: hides });
    const event = { streamId: this.streamId, number: 0, type: 'chat-hidden', data };
    const { body } = composeInterval(
      this.interval,
      { viewCount: null, chats },
      hides.length > 0 ? [event] : [],
    );
    const { streamId, interval } = this;
    if (body !== null) {
      await sqlite.query('insert into sealed_intervals values ($1, $2, $3)', [
        streamId,
        interval,
        body,
      ]);
    }
    for (const id of hides) {
      await sqlite.query('insert into hidden_lines (stream_id, line, number) values ($1, $2, $3)', [
        streamId,
        id,
        interval,
      ]);
    }
    this.feed.append(interval, body === null ? [] : [{ streamId, interval, body }]);
  }

  /** Stores intervals with another event each. */
  async sealWithoutChat(intervals: number): Promise<void> {
    await sqlite.query(
      `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < $3)
       insert into sealed_intervals select $1, $2 + n, '{"interval":0,"events":[]}' from numbers`,
      [this.streamId, this.interval, intervals],
    );
    this.interval += intervals;
  }

  /** Another process, or the same after a restart. */
  restart(): void {
    this.feed = new MemoryFeedLog(this.store, this.interval);
    this.recent = new RecentMessages({ feed: this.feed, store: this.store });
  }

  async texts(hidden = NONE): Promise<string[]> {
    const messages: StoredChatMessage[] = JSON.parse(
      await this.recent.json(this.streamId, hidden, CLIENT),
    );
    return messages.map(({ text }) => text);
  }
}

describe('RecentMessages', () => {
  let chat: ChatFixture;
  beforeEach(async () => {
    streams++;
    chat = new ChatFixture(`chat-${streams}`);
    await insertStream(sqlite, chat.streamId, streams);
  });

  test('[C-22] RecentMessages has the messages of the feed, oldest first, with their kind', async () => {
    expect(await chat.texts()).toEqual([]);
    await chat.seal(['a', 'b']);
    await chat.seal();
    await chat.seal(['c']);
    expect(JSON.parse(await chat.recent.json(chat.streamId, NONE, CLIENT))).toEqual([
      { id: 'a', viewer: 'v', name: 'Ada', text: 'a', at: (FIRST + 1) * 250, kind: 'message' },
      { id: 'b', viewer: 'v', name: 'Ada', text: 'b', at: (FIRST + 1) * 250, kind: 'message' },
      { id: 'c', viewer: 'v', name: 'Ada', text: 'c', at: (FIRST + 3) * 250, kind: 'message' },
    ]);
  });

  test('[C-22] RecentMessages has the last 50 messages, in memory and after a restart', async () => {
    const all = Array.from({ length: 130 }, (_, number) => `m${number}`);
    await chat.texts();
    for (let from = 0; from < all.length; from += 10) await chat.seal(all.slice(from, from + 10));
    expect(await chat.texts()).toEqual(all.slice(-50));
    chat.restart();
    expect(await chat.texts()).toEqual(all.slice(-50));
  });

  test('[C-22] RecentMessages leaves out hidden messages, and has older ones instead', async () => {
    const all = Array.from({ length: 60 }, (_, number) => `m${number}`);
    await chat.texts();
    await chat.seal(all.slice(0, 50));
    await chat.seal(all.slice(50));
    await chat.seal([], ['m59', 'm20']);
    const visible = all.filter((text) => text !== 'm59' && text !== 'm20');
    expect(await chat.texts()).toEqual(visible.slice(-50));
    // Hidden a moment ago: the feed does not have the event yet.
    expect(await chat.texts(['m58'])).toEqual(visible.slice(0, -1).slice(-50));
    chat.restart();
    expect(await chat.texts()).toEqual(visible.slice(-50));
  });

  test('[C-22] RecentMessages reads the database once, and each interval once', async () => {
    await chat.seal(['a']);
    const hidden: string[] = [];
    const jsons = await Promise.all(
      Array.from({ length: 100 }, () => chat.recent.json(chat.streamId, hidden, CLIENT)),
    );
    expect(new Set(jsons).size).toBe(1);
    for (let count = 0; count < 20; count++) {
      await chat.seal([`b${count}`]);
      await chat.texts();
    }
    expect((await chat.texts()).length).toBe(21);
    expect(chat.reads).toBe(1);
  });

  test('[C-22] RecentMessages reads the database again after a time without readers', async () => {
    await chat.texts();
    await chat.seal(['a']);
    for (let count = 0; count < 300; count++) await chat.seal();
    await chat.seal(['b']);
    expect(await chat.texts()).toEqual(['a', 'b']);
    expect(chat.reads).toBe(2);
  });

  test('[C-22] RecentMessages reads two chats at once, and networks take turns', async () => {
    const reads: { streamId: string; finish: () => void }[] = [];
    const readRecentMessages = ({ streamId }: { streamId: string }) =>
      new Promise<{ messages: []; hidden: [] }>((resolve) => {
        reads.push({ streamId, finish: () => resolve({ messages: [], hidden: [] }) });
      });
    const feed = {
      watermark: () => FIRST,
      range: () => Promise.reject(new Error('not in memory')),
    };
    const recent = new RecentMessages({ feed, store: { readRecentMessages } });
    const ask = (streamId: string, client: string) =>
      recent.json(streamId, NONE, client).then(
        () => 'read',
        (error) => error.name,
      );
    const flood = Array.from({ length: 100 }, (_, n) => ask(`old-${n}`, `192.0.2.${n}`));
    const other = ask('show', '198.51.100.1');
    await Bun.sleep(0);
    expect(reads.map(({ streamId }) => streamId)).toEqual(['old-0', 'old-1']);
    const order: string[] = [];
    for (let read = reads.shift(); read; read = reads.shift()) {
      order.push(read.streamId);
      read.finish();
      await Bun.sleep(0);
    }
    expect(order.slice(0, 4)).toEqual(['old-0', 'old-1', 'old-2', 'show']);
    expect(await other).toBe('read');
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((outcome) => outcome === 'read')).toHaveLength(33);
    expect(outcomes.filter((outcome) => outcome === 'Unavailable')).toHaveLength(67);
  });

  test('[C-22] RecentMessages goes back at most 2,400 intervals with events', async () => {
    await chat.seal(['old']);
    await chat.sealWithoutChat(2_399);
    chat.restart();
    expect(await chat.texts()).toEqual(['old']);
    await chat.seal(['new']);
    chat.restart();
    expect(await chat.texts()).toEqual(['new']);
  });
});
