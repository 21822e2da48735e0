import { describe, expect, test } from 'bun:test';
import type { ChatElement } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { TransientBatch } from '../../realtime/feed/transient-source.ts';
import { chatsOfNodes, createSharedChat } from './chat-shared.ts';

const line = (id: string, at = 1): ChatElement => ({
  id,
  viewer: 'v',
  name: 'Ann',
  text: 'Hi',
  at,
});
const newChat = (bytesMax = 100_000) =>
  createSharedChat({ random: Math.random, unavailable: () => null, bytesMax });
const given = (...handOvers: (TransientBatch | null)[]) =>
  chatsOfNodes(
    handOvers.flatMap((one) => (one ? [one.bytes] : [])),
    Math.random,
  );

describe('what a node hands over', () => {
  test('[C-7] is nothing when nothing was posted', () => {
    expect(newChat().nextBatch()).toBeNull();
  });

  test('[C-6] [N-4] becomes one chats event of all nodes for each stream', () => {
    const [here, there] = [newChat(), newChat()];
    here.say('one', 'message', line('b', 2));
    here.hearts('two', 3);
    there.say('one', 'message', line('a', 1));
    there.say('one', 'cheer', line('c'));
    there.hearts('two', 4);
    const chats = given(here.nextBatch(), there.nextBatch());
    expect(chats.get('one')?.messages).toEqual([line('a', 1), line('b', 2)]);
    expect(chats.get('one')?.cheers).toEqual([line('c')]);
    expect(chats.get('two')?.hearts).toBe(7);
    expect([...chats.keys()].sort()).toEqual(['one', 'two']);
  });

  test('[N-12] comes again, unchanged and as the same, until its fate is known', () => {
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
    expect(given(second).get('one')?.hearts).toBe(5);
    chat.settleBatch('accepted');
    expect(chat.isEmpty()).toBe(true);
    expect(chat.nextBatch()).toBeNull();
  });

  test('[N-12] is not in doubt when it was known not to be taken', () => {
    const chat = newChat();
    chat.hearts('one', 3);
    const first = chat.nextBatch();
    chat.settleBatch('rejected');
    expect(chat.nextBatch()).toEqual(first);
  });

  test('[N-12] is given up when it might be sealed already', () => {
    const chat = newChat();
    chat.hearts('one', 3);
    chat.nextBatch();
    chat.settleBatch('lost');
    expect(chat.isEmpty()).toBe(true);
  });

  test('[C-8] is bounded, however long it has to wait: samples stay fair meanwhile', () => {
    const chat = newChat();
    chat.say('one', 'message', line('first'));
    chat.nextBatch();
    for (let n = 0; n < 5_000; n++) chat.say('one', 'message', line(`${n}`));
    chat.settleBatch('accepted');
    const later = chat.nextBatch();
    expect(later?.bytes.length).toBeLessThan(CHAT_SAMPLE * 100);
    expect(given(later).get('one')?.messages).toHaveLength(CHAT_SAMPLE);
  });

  test('[C-6] beyond a bound in bytes goes with the next one, whoever waited longest first', () => {
    const chat = newChat(10_000);
    const streams = Array.from({ length: 100 }, (_, n) => `stream ${n}`);
    for (const streamId of streams) {
      for (let n = 0; n < 10; n++) chat.say(streamId, 'message', line(`${n}`));
    }
    const seen: string[] = [];
    while (!chat.isEmpty()) {
      const handOver = chat.nextBatch();
      expect(handOver?.bytes.length).toBeLessThan(11_000);
      seen.push(...given(handOver).keys());
      chat.settleBatch('accepted');
    }
    expect(seen).toEqual(streams);
  });
});

test('[N-13] what a node of another version handed over counts as far as it can be read, and stops nothing', () => {
  const chat = newChat();
  chat.hearts('one', 2);
  const readable = chat.nextBatch()?.bytes ?? new Uint8Array();
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const older = encode([['one', { lines: { message: { arrived: 1, kept: [line('a')] } } }]]);
  const strange = [encode({ format: 2 }), encode([['one', { hearts: 'many' }]]), Buffer.from('[')];
  const chats = chatsOfNodes([...strange, older, readable], Math.random);
  expect([...chats.keys()]).toEqual(['one']);
  expect(chats.get('one')).toMatchObject({ messages: [line('a')], cheers: [], hearts: 2 });
});

test('[N-9] while Redis is unavailable posts are refused, and what was accepted is kept', () => {
  let reason: string | null = null;
  const chat = createSharedChat({ random: Math.random, unavailable: () => reason });
  chat.hearts('one', 2);
  reason = 'away';
  expect(() => chat.hearts('one', 1)).toThrow(Unavailable);
  expect(() => chat.say('one', 'message', line('a'))).toThrow(Unavailable);
  reason = null;
  expect(given(chat.nextBatch()).get('one')).toMatchObject({ hearts: 2, messages: [] });
});
