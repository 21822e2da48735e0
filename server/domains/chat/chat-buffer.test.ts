import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CHAT_KINDS, type ChatElement } from '../../../protocol/feed.ts';
import { CHAT_BYTES, CHAT_SAMPLE, CHAT_TEXT_CHARS } from '../../../protocol/limits.ts';
import { chatMessage, expectFairSamples } from '../../../test/support/chat/chat-messages.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { ChatBuffer } from './chat-buffer.ts';
import { type ChatSamples, chatsFromSamples } from './chat-samples.ts';

const messageAt = (number: number) => chatMessage(`message ${number}`, number);
const CLIENT = '192.0.2.1';
const takenMessages = (buffer: ChatBuffer) =>
  chatsFromSamples(buffer.take() as ChatSamples).messages;
const numbersOf = (messages: readonly ChatElement[]) => messages.map(({ at }) => at);

describe('ChatBuffer.take', () => {
  test('[C-7] ChatBuffer.take returns null when there are no posts', () => {
    expect(new ChatBuffer(Math.random).take()).toBeNull();
  });

  test('[C-7] ChatBuffer.take empties the buffer', () => {
    const buffer = new ChatBuffer(Math.random);
    buffer.add('cheer', messageAt(1), CLIENT);
    buffer.addHearts(2);
    expect(buffer.take()).not.toBeNull();
    expect(buffer.take()).toBeNull();
  });

  test('[F-28] ChatBuffer.take returns the messages of each kind, and hearts', () => {
    const buffer = new ChatBuffer(Math.random);
    for (const [number, kind] of CHAT_KINDS.entries()) buffer.add(kind, messageAt(number), CLIENT);
    expect(chatsFromSamples(buffer.take() as ChatSamples)).toEqual({
      messages: [messageAt(0)],
      questions: [messageAt(1)],
      greetings: [messageAt(2)],
      cheers: [messageAt(3)],
      hearts: 0,
    });
  });

  test('ChatBuffer.take returns samples that later posts do not change', () => {
    const buffer = new ChatBuffer(Math.random);
    buffer.add('message', messageAt(1), CLIENT);
    const taken = buffer.take();
    buffer.add('message', messageAt(2), CLIENT);
    buffer.addHearts(1);
    expect(taken?.messages.map(({ element }) => element.at)).toEqual([1]);
    expect(taken?.hearts).toBe(0);
  });
});

test('[C-8] a buffer selects messages when they exceed 64 KB, so that long ones take little memory', async () => {
  const buffer = new ChatBuffer(Math.random);
  const posted: WeakRef<ChatElement>[] = [];
  for (let number = 0; number < 399; number += 1) {
    const element = { ...messageAt(number), text: '🐎'.repeat(CHAT_TEXT_CHARS) };
    posted.push(new WeakRef(element));
    buffer.add('message', element, CLIENT);
  }
  await Bun.sleep(0);
  Bun.gc(true);
  const kept = posted.flatMap((element) => element.deref() ?? []);
  const bytes = kept.reduce((sum, element) => sum + Buffer.byteLength(JSON.stringify(element)), 0);
  expect(bytes).toBeGreaterThan(0);
  // The stack may still refer to the candidates of the last selection, another 64 KB.
  expect(bytes).toBeLessThan(4 * CHAT_BYTES);
  expect(takenMessages(buffer).length).toBeGreaterThan(1);
});

describe('[C-9] hearts', () => {
  test('hearts in chats are summed, with or without messages', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (counts) => {
        const buffer = new ChatBuffer(Math.random);
        for (const count of counts) buffer.addHearts(count);
        expect(buffer.take()?.hearts).toBe(counts.reduce((sum, count) => sum + count, 0));
      }),
    );
  });

  test('hearts in chats stop at the largest safe integer', () => {
    const buffer = new ChatBuffer(Math.random);
    buffer.addHearts(Number.MAX_SAFE_INTEGER - 1);
    buffer.addHearts(50);
    buffer.addHearts(50);
    expect(buffer.take()?.hearts).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('[C-8] sampled messages', () => {
  const posts = fc.array(fc.constantFrom(...CHAT_KINDS), { maxLength: 600, size: 'max' });
  const takeSampleOf = (kinds: (typeof CHAT_KINDS)[number][], random: () => number) => {
    const buffer = new ChatBuffer(random);
    for (const [number, kind] of kinds.entries()) {
      buffer.add(kind, messageAt(number), `client ${number}`);
    }
    const messages = buffer.take()?.messages ?? [];
    return CHAT_KINDS.map((kind) => ({
      posted: [...kinds.keys()].filter((number) => kinds[number] === kind),
      kept: messages.filter((message) => message.kind === kind).map(({ element }) => element.at),
    }));
  };

  test('sampled messages are at most 50 of a kind, and all of fewer', () => {
    fc.assert(
      fc.property(posts, fc.integer(), (kinds, seed) => {
        for (const { posted, kept } of takeSampleOf(kinds, seededRandom(seed))) {
          expect(kept).toHaveLength(Math.min(posted.length, CHAT_SAMPLE));
          expect(new Set(posted).isSupersetOf(new Set(kept))).toBe(true);
          if (posted.length <= CHAT_SAMPLE) expect(kept).toEqual(posted);
        }
      }),
    );
  });

  test('sampled messages keep the order of arrival, each at most once', () => {
    fc.assert(
      fc.property(posts, fc.integer(), (kinds, seed) => {
        for (const { kept } of takeSampleOf(kinds, seededRandom(seed))) {
          expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b));
        }
      }),
    );
  });

  test.each([51, 100, 500])(
    'sampled messages are chosen with equal probability, of %d',
    (posted) => {
      const random = seededRandom(posted);
      expectFairSamples(posted, 4_000, () => {
        const buffer = new ChatBuffer(random);
        for (let number = 0; number < posted; number += 1) {
          buffer.add('message', messageAt(number), `client ${number}`);
        }
        return numbersOf(takenMessages(buffer));
      });
    },
  );
});
