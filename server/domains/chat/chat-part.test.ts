import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CHAT_KINDS, type ChatElement, type ChatKind } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { ChatBuffer } from './chat-buffer.ts';
import { type ChatPart, mergeChats } from './chat-part.ts';

interface Post {
  readonly kind: ChatKind;
  readonly node: number;
  readonly at: number;
}

const line = (id: string, at: number): ChatElement => ({
  id,
  viewer: 'viewer',
  name: '',
  text: 'hello',
  at,
});

/** What each node has after these posts; a line is named by the place of its post. */
function partsOf(posts: readonly Post[], random: () => number): ChatPart[] {
  const buffers = new Map<number, ChatBuffer>();
  for (const [place, { kind, node, at }] of posts.entries()) {
    const buffer = buffers.get(node) ?? new ChatBuffer(random);
    buffers.set(node, buffer);
    buffer.add(kind, line(`${place}`, at));
  }
  return [...buffers.values()].map((buffer) => buffer.take() as ChatPart);
}

const posts = fc.array(
  fc.record<Post>({
    kind: fc.constantFrom(...CHAT_KINDS),
    node: fc.nat({ max: 4 }),
    at: fc.nat({ max: 300 }),
  }),
  { maxLength: 600, size: 'max' },
);

describe('[C-8] [N-4] lines of several nodes', () => {
  test('are at most 50 of a kind, each of them posted, none twice, and all when there are no more', () => {
    fc.assert(
      fc.property(posts, fc.integer(), (all, seed) => {
        const random = seededRandom(seed);
        const chats = mergeChats(partsOf(all, random), random);
        for (const kind of CHAT_KINDS) {
          const posted = all.flatMap((post, place) => (post.kind === kind ? [`${place}`] : []));
          const ids = chats[`${kind}s`].map(({ id }) => id);
          expect(ids).toHaveLength(Math.min(posted.length, CHAT_SAMPLE));
          expect(new Set(ids).size).toBe(ids.length);
          expect(new Set(posted).isSupersetOf(new Set(ids))).toBe(true);
        }
      }),
    );
  });

  test('stand by their time, and those of one node and one moment as they arrived', () => {
    fc.assert(
      fc.property(posts, fc.integer(), (all, seed) => {
        const random = seededRandom(seed);
        const sorted = all.toSorted((a, b) => a.at - b.at);
        const chats = mergeChats(partsOf(sorted, random), random);
        for (const kind of CHAT_KINDS) {
          const lines = chats[`${kind}s`];
          expect(lines.map(({ at }) => at)).toEqual(
            lines.map(({ at }) => at).sort((a, b) => a - b),
          );
          const byNode = Map.groupBy(lines, ({ id }) => sorted[Number(id)]?.node);
          for (const own of byNode.values()) {
            const places = own.map(({ id }) => Number(id));
            expect(places).toEqual(places.toSorted((a, b) => a - b));
          }
        }
      }),
    );
  });

  test.each([[[40, 40]], [[500, 5, 60]], [[1, 51]], [[300, 300, 300]]])(
    'have the same chance to be in, whichever of the nodes they came by: %j',
    (arrivals) => {
      const random = seededRandom(arrivals.length);
      const all = arrivals.flatMap((count, node) =>
        Array.from({ length: count }, (_, at) => ({ kind: 'message' as const, node, at })),
      );
      const rounds = 3_000;
      const timesKept = new Array<number>(all.length).fill(0);
      for (let round = 0; round < rounds; round++) {
        for (const { id } of mergeChats(partsOf(all, random), random).messages) {
          timesKept[Number(id)] = (timesKept[Number(id)] ?? 0) + 1;
        }
      }
      // As for one buffer: chi-square over the lines, and no line that stands out.
      const chance = CHAT_SAMPLE / all.length;
      const expected = rounds * chance;
      const variance = expected * (1 - chance);
      const chiSquare = timesKept.reduce(
        (sum, times) => sum + (times - expected) ** 2 / variance,
        0,
      );
      expect(chiSquare).toBeLessThan(all.length + 6 * Math.sqrt(2 * all.length));
      const furthest = Math.max(...timesKept.map((times) => Math.abs(times - expected)));
      expect(furthest).toBeLessThan(6 * Math.sqrt(variance));
    },
  );
});

test('[C-9] hearts of several nodes are summed, up to the largest safe integer', () => {
  const hearts = (count: number) => {
    const buffer = new ChatBuffer(Math.random);
    buffer.hearts(count);
    return buffer.take() as ChatPart;
  };
  expect(mergeChats([hearts(3), hearts(4)], Math.random).hearts).toBe(7);
  const most = hearts(Number.MAX_SAFE_INTEGER);
  expect(mergeChats([most, hearts(1)], Math.random).hearts).toBe(Number.MAX_SAFE_INTEGER);
});
