import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CHAT_KINDS, type ChatKind } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE, CHAT_TEXT_CHARS } from '../../../protocol/limits.ts';
import { chatMessage, expectFairSamples } from '../../../test/support/chat/chat-messages.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { ChatBuffer } from './chat-buffer.ts';
import { type ChatSamples, mergeChats } from './chat-samples.ts';

interface Post {
  readonly kind: ChatKind;
  readonly node: number;
  readonly at: number;
}

/** The samples of each node after these posts; the id of a message is the index of its post. */
function samplesOf(posts: readonly Post[], random: () => number): ChatSamples[] {
  const buffers = new Map<number, ChatBuffer>();
  for (const [index, { kind, node, at }] of posts.entries()) {
    const buffer = buffers.get(node) ?? new ChatBuffer(random);
    buffers.set(node, buffer);
    buffer.add(kind, chatMessage(`${index}`, at), `client ${index}`);
  }
  return [...buffers.values()].map((buffer) => buffer.take() as ChatSamples);
}

const posts = fc.array(
  fc.record<Post>({
    kind: fc.constantFrom(...CHAT_KINDS),
    node: fc.nat({ max: 4 }),
    at: fc.nat({ max: 300 }),
  }),
  { maxLength: 600, size: 'max' },
);

describe('[C-8] [N-4] mergeChats', () => {
  test('mergeChats returns at most 50 distinct messages of a kind, and all of fewer', () => {
    fc.assert(
      fc.property(posts, fc.integer(), (all, seed) => {
        const random = seededRandom(seed);
        const chats = mergeChats(samplesOf(all, random));
        for (const kind of CHAT_KINDS) {
          const posted = all.flatMap((post, index) => (post.kind === kind ? [`${index}`] : []));
          const ids = chats[`${kind}s`].map(({ id }) => id);
          expect(ids).toHaveLength(Math.min(posted.length, CHAT_SAMPLE));
          expect(new Set(ids).size).toBe(ids.length);
          expect(new Set(posted).isSupersetOf(new Set(ids))).toBe(true);
        }
      }),
    );
  });

  test('mergeChats sorts messages by time, and those of one node and time by arrival', () => {
    fc.assert(
      fc.property(posts, fc.integer(), (all, seed) => {
        const random = seededRandom(seed);
        const sorted = all.toSorted((a, b) => a.at - b.at);
        const chats = mergeChats(samplesOf(sorted, random));
        for (const kind of CHAT_KINDS) {
          const messages = chats[`${kind}s`];
          expect(messages.map(({ at }) => at)).toEqual(
            messages.map(({ at }) => at).sort((a, b) => a - b),
          );
          const byNode = Map.groupBy(messages, ({ id }) => sorted[Number(id)]?.node);
          for (const messagesOfNode of byNode.values()) {
            const indices = messagesOfNode.map(({ id }) => Number(id));
            expect(indices).toEqual(indices.toSorted((a, b) => a - b));
          }
        }
      }),
    );
  });

  test.each([[[40, 40]], [[500, 5, 60]], [[1, 51]], [[300, 300, 300]]])(
    'mergeChats chooses messages of all nodes with equal probability: %j',
    (arrivals) => {
      const random = seededRandom(arrivals.length);
      const all = arrivals.flatMap((count, node) =>
        Array.from({ length: count }, (_, at) => ({ kind: 'message' as const, node, at })),
      );
      expectFairSamples(all.length, 3_000, () =>
        mergeChats(samplesOf(all, random)).messages.map(({ id }) => Number(id)),
      );
    },
  );

  test.each([1, 3])(
    'mergeChats has 70%% of the messages of clients that post once beside 300 long ones of five: %d nodes',
    (nodeCount) => {
      const random = seededRandom(nodeCount);
      const long = '😀'.repeat(CHAT_TEXT_CHARS);
      let selectedCount = 0;
      for (let round = 0; round < 50; round++) {
        const buffers = Array.from({ length: nodeCount }, () => new ChatBuffer(random));
        // Each of the 20 is among long messages, which make the buffers select several times.
        for (let number = 0; number < 320; number++) {
          const buffer = buffers[Math.floor(random() * nodeCount)];
          const isSingle = number % 16 === 0;
          const element = chatMessage(isSingle ? 'single' : 'long');
          if (isSingle) buffer?.add('message', element, `single ${number}`);
          else buffer?.add('message', { ...element, text: long }, `${number % 5}`);
        }
        const parts = buffers.map((buffer) => buffer.take() as ChatSamples);
        const { messages } = mergeChats(parts);
        selectedCount += messages.filter(({ id }) => id === 'single').length;
      }
      expect(selectedCount / (50 * 20)).toBeGreaterThan(0.7);
    },
  );
});

test('[C-9] mergeChats adds the hearts of nodes, up to the largest safe integer', () => {
  const hearts = (count: number) => {
    const buffer = new ChatBuffer(Math.random);
    buffer.addHearts(count);
    return buffer.take() as ChatSamples;
  };
  expect(mergeChats([hearts(3), hearts(4)]).hearts).toBe(7);
  const most = hearts(Number.MAX_SAFE_INTEGER);
  expect(mergeChats([most, hearts(1)]).hearts).toBe(Number.MAX_SAFE_INTEGER);
});
