import { describe, expect, test } from 'bun:test';
import { CHAT_BYTES, CHAT_CLIENT_BYTES, CHAT_TEXT_CHARS } from '../../../protocol/limits.ts';
import { chatMessage, postedMessage } from '../../../test/support/chat/chat-messages.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import type { ViewerChats } from '../../realtime/feed/interval-body.ts';
import type { ChatPosts } from './chat-source.ts';
import { createMemoryChatSource } from './chat-source-memory.ts';
import { createSharedChatSource, mergeNodeChats } from './chat-source-shared.ts';

const LONG = '😀'.repeat(CHAT_TEXT_CHARS);
const STREAMS = Array.from({ length: 20 }, (_, n) => `stream ${n}`);

type Posting = (chat: ChatPosts) => void;

/** The chats of an interval after these posts, on both kinds of backends. */
const SOURCES: readonly [
  name: string,
  chatsOf: (posting: Posting) => ReadonlyMap<string, ViewerChats>,
][] = [
  [
    'one process',
    (posting) => {
      const chat = createMemoryChatSource({ random: seededRandom(1) });
      posting(chat);
      return chat.drain();
    },
  ],
  [
    'one node of several',
    (posting) => {
      const random = seededRandom(1);
      const chat = createSharedChatSource({ random, unavailableReason: () => null });
      posting(chat);
      const batch = chat.nextBatch();
      return mergeNodeChats(batch ? [batch.bytes] : [], random);
    },
  ],
];

const bytesOf = (chats: Iterable<ViewerChats>) =>
  [...chats]
    .flatMap(({ messages }) => messages)
    .reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);

/** Posts long messages of one client to every stream: over 500 KB. */
const flood: Posting = (chat) => {
  for (const streamId of STREAMS) {
    for (let n = 0; n < 25; n += 1) {
      const element = { ...chatMessage(`flood ${n}`), text: LONG };
      chat.post(streamId, postedMessage('message', element, '2001:db8::/64'));
    }
  }
};

describe.each(SOURCES)('[C-8] the chats of %s', (_, chatsOf) => {
  test('have at most 32 KB of a client that posts to many streams', () => {
    const bytes = bytesOf(chatsOf(flood).values());
    expect(bytes).toBeLessThanOrEqual(CHAT_BYTES);
    expect(bytes).toBeGreaterThan(0.9 * CHAT_BYTES);
  });

  test('have all messages and hearts of others beside such a client', () => {
    const chats = chatsOf((chat) => {
      flood(chat);
      for (const [n, streamId] of STREAMS.entries()) {
        chat.hearts(streamId, 2);
        chat.post(streamId, postedMessage('message', chatMessage('other', 2), `192.0.2.${n}`));
      }
    });
    expect([...chats.keys()]).toEqual(STREAMS);
    for (const { messages, hearts } of chats.values()) {
      expect([messages.at(-1), hearts]).toEqual([chatMessage('other', 2), 2]);
    }
  });

  test('have random messages of such a client, and no stream without posts', () => {
    const streamIds = [...chatsOf(flood).keys()];
    expect(streamIds.length).toBeWithin(4, STREAMS.length);
    expect(streamIds).not.toEqual(STREAMS.slice(0, streamIds.length));
  });

  test('have at most 8 KB of one client in a single stream, and 32 KB of many', () => {
    const bytesFrom = (clientOf: (n: number) => string) => {
      const chats = chatsOf((chat) => {
        for (let n = 0; n < 50; n += 1) {
          const element = { ...chatMessage(`${n}`), text: LONG };
          chat.post('one', postedMessage('message', element, clientOf(n)));
        }
      });
      return bytesOf(chats.values());
    };
    expect(bytesFrom((n) => `192.0.2.${n}`)).toBeWithin(0.9 * CHAT_BYTES, CHAT_BYTES + 1);
    expect(bytesFrom(() => '192.0.2.1')).toBeWithin(0.8 * CHAT_CLIENT_BYTES, CHAT_CLIENT_BYTES + 1);
  });
});
