import { describe, expect, test } from 'bun:test';
import { CHAT_CLIENT_BYTES, CHAT_SAMPLE, CHAT_TEXT_CHARS } from '../../../protocol/limits.ts';
import {
  chatMessage as message,
  postedMessage as posted,
} from '../../../test/support/chat/chat-messages.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { TransientBatch } from '../../realtime/feed/transient-source.ts';
import { createSharedChatSource, mergeNodeChats } from './chat-source-shared.ts';

const newChat = (bytesMax = 100_000) =>
  createSharedChatSource({ random: Math.random, unavailableReason: () => null, bytesMax });
const mergedOf = (...batches: (TransientBatch | null)[]) =>
  mergeNodeChats(
    batches.flatMap((batch) => (batch ? [batch.bytes] : [])),
    Math.random,
  );

describe('a batch of a shared chat source', () => {
  test('[C-7] a batch of a shared chat source is null when there are no posts', () => {
    expect(newChat().nextBatch()).toBeNull();
  });

  test('[C-6] [N-4] a batch of a shared chat source merges with those of other nodes to the chats of each stream', () => {
    const [here, there] = [newChat(), newChat()];
    here.post('one', posted('message', message('b', 2)));
    here.hearts('two', 3);
    there.post('one', posted('message', message('a', 1)));
    there.post('one', posted('cheer', message('c')));
    there.hearts('two', 4);
    const chats = mergedOf(here.nextBatch(), there.nextBatch());
    expect(chats.get('one')?.messages).toEqual([message('a', 1), message('b', 2)]);
    expect(chats.get('one')?.cheers).toEqual([message('c')]);
    expect(chats.get('two')?.hearts).toBe(7);
    expect([...chats.keys()].sort()).toEqual(['one', 'two']);
  });

  test('[N-12] a batch of a shared chat source is repeated unchanged until it is settled', () => {
    const chat = newChat();
    chat.hearts('one', 3);
    const first = chat.nextBatch();
    expect(first?.isRepeat).toBe(false);
    chat.hearts('one', 5);
    expect(chat.nextBatch()).toEqual({ ...(first as TransientBatch), isRepeat: true });
    chat.settleBatch('accepted');
    const second = chat.nextBatch();
    expect(second?.number).toBeGreaterThan(first?.number ?? 0);
    expect(second?.isRepeat).toBe(false);
    expect(mergedOf(second).get('one')?.hearts).toBe(5);
    chat.settleBatch('accepted');
    expect(chat.isEmpty()).toBe(true);
    expect(chat.nextBatch()).toBeNull();
  });

  test('[N-12] a batch of a shared chat source is not marked as a repeat after a rejection', () => {
    const chat = newChat();
    chat.hearts('one', 3);
    const first = chat.nextBatch();
    chat.settleBatch('rejected');
    expect(chat.nextBatch()).toEqual(first);
  });

  test('[N-12] a batch of a shared chat source is dropped when it may be sealed already', () => {
    const chat = newChat();
    chat.hearts('one', 3);
    chat.nextBatch();
    chat.settleBatch('lost');
    expect(chat.isEmpty()).toBe(true);
  });

  test('[C-8] a batch of a shared chat source leaves room for other clients beside one that posts on every node', () => {
    const nodes = [newChat(), newChat(), newChat()];
    const others = Array.from({ length: 30 }, (_, n) => message(`other ${n}`, n));
    for (const [index, chat] of nodes.entries()) {
      for (let n = 0; n < 500; n++) chat.post('one', posted('message', message(`${n}`), '::1'));
      for (const other of others.slice(index * 10, (index + 1) * 10)) {
        chat.post('one', posted('message', other, `192.0.2.${other.at}`));
      }
    }
    const chats = mergedOf(...nodes.map((chat) => chat.nextBatch()));
    const messages = chats.get('one')?.messages ?? [];
    expect(messages.filter(({ id }) => id.startsWith('other'))).toEqual(others);
    expect(messages).toHaveLength(CHAT_SAMPLE);
  });

  test('[C-8] batches of a shared chat source have at most 8 KB of a client that posts to one stream on every node', () => {
    const nodes = Array.from({ length: 4 }, () => newChat());
    for (const chat of nodes) {
      for (let n = 0; n < 50; n++) {
        const element = { ...message(`${n}`), text: 'a'.repeat(CHAT_TEXT_CHARS) };
        chat.post('one', posted('message', element));
      }
    }
    const chats = mergedOf(...nodes.map((chat) => chat.nextBatch()));
    const bytes = Buffer.byteLength(JSON.stringify(chats.get('one')?.messages));
    expect(bytes).toBeWithin(0.9 * CHAT_CLIENT_BYTES, 1.01 * CHAT_CLIENT_BYTES);
  });

  test('[C-8] a batch of a shared chat source is bounded however long posts wait', () => {
    const chat = newChat();
    chat.post('one', posted('message', message('first')));
    chat.nextBatch();
    for (let n = 0; n < 5_000; n++) chat.post('one', posted('message', message(`${n}`)));
    chat.settleBatch('accepted');
    const later = chat.nextBatch();
    expect(later?.bytes.length).toBeLessThan(CHAT_SAMPLE * 120);
    expect(mergedOf(later).get('one')?.messages).toHaveLength(CHAT_SAMPLE);
  });

  test('[C-6] a batch of a shared chat source leaves streams beyond its maximum size to the next batch, in the order of their posts', () => {
    const chat = newChat(10_000);
    const streams = Array.from({ length: 100 }, (_, n) => `stream ${n}`);
    for (const streamId of streams) {
      for (let n = 0; n < 10; n++) {
        chat.post(streamId, posted('message', message(`${n}`), streamId));
      }
    }
    const seen: string[] = [];
    while (!chat.isEmpty()) {
      const batch = chat.nextBatch();
      expect(batch?.bytes.length).toBeLessThan(11_000);
      seen.push(...mergedOf(batch).keys());
      chat.settleBatch('accepted');
    }
    expect(seen).toEqual(streams);
  });

  test('[C-6] a batch of a shared chat source has the posts of all streams when one client fills most of them', () => {
    const chat = newChat(1024 * 1024);
    const long = 'a'.repeat(CHAT_TEXT_CHARS);
    for (let stream = 0; stream < 1_000; stream++) {
      const streamId = `stream ${stream}`;
      for (let n = 0; n < 15; n++) {
        const element = { ...message(`flood ${n}`), text: long };
        chat.post(streamId, posted('message', element, '192.0.2.1'));
      }
      const client = `2001:db8:${stream.toString(16)}::/48`;
      chat.post(streamId, posted('message', message('other'), client));
    }
    const chats = mergedOf(chat.nextBatch());
    const others = [...chats.values()].filter(({ messages }) =>
      messages.some(({ id }) => id === 'other'),
    );
    expect(others).toHaveLength(1_000);
  });
});

test('[N-13] batches of other versions count as far as they can be parsed, and invalid ones are skipped', () => {
  const chat = newChat();
  chat.hearts('one', 2);
  const readable = chat.nextBatch()?.bytes ?? new Uint8Array();
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const older = encode([['one', { lines: { message: { arrived: 1, kept: [message('a')] } } }]]);
  const invalid = [encode({ format: 2 }), encode([['one', { hearts: 'many' }]]), Buffer.from('[')];
  const chats = mergeNodeChats([...invalid, older, readable], Math.random);
  expect([...chats.keys()]).toEqual(['one']);
  expect(chats.get('one')).toMatchObject({ messages: [message('a')], cheers: [], hearts: 2 });
});

test('[N-9] posts are refused while Redis is unavailable, and accepted ones are not lost', () => {
  let reason: string | null = null;
  const chat = createSharedChatSource({ random: Math.random, unavailableReason: () => reason });
  chat.hearts('one', 2);
  reason = 'Redis is unavailable.';
  expect(() => chat.hearts('one', 1)).toThrow(Unavailable);
  expect(() => chat.post('one', posted('message', message('a')))).toThrow(Unavailable);
  reason = null;
  expect(mergedOf(chat.nextBatch()).get('one')).toMatchObject({ hearts: 2, messages: [] });
});
