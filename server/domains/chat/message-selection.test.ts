import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CHAT_KINDS } from '../../../protocol/feed.ts';
import {
  CHAT_BYTES,
  CHAT_NAME_CHARS,
  CHAT_TEXT_CHARS,
  IDENTIFIER_CHARS,
} from '../../../protocol/limits.ts';
import { chatMessage } from '../../../test/support/chat/chat-messages.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { type Candidate, newCandidate, selectMessages } from './message-selection.ts';

/** Messages of one kind, each of another client. The id of each is its index. */
function candidates(
  count: number,
  of: Partial<Omit<Candidate, 'bytes'>>,
  random = Math.random,
): Candidate[] {
  return Array.from({ length: count }, (_, index) =>
    newCandidate({
      kind: 'message',
      element: chatMessage(`${index}`),
      rank: random(),
      client: index,
      clientRank: random(),
      ...of,
    }),
  );
}

const bytesOf = (messages: readonly Candidate[]) =>
  messages.reduce((sum, { element }) => sum + Buffer.byteLength(JSON.stringify(element)), 0);

describe('[C-8] selectMessages', () => {
  test('takes all of other clients beside 500 posts of one', () => {
    const others = candidates(30, {}).map((each, index) => ({ ...each, client: 1_000 + index }));
    const selected = selectMessages([...candidates(500, { client: 1 }), ...others]);
    expect(selected.filter(({ client }) => client >= 1_000)).toEqual(others);
    expect(selected).toHaveLength(50);
  });

  test('takes ten of each client before an eleventh of any', () => {
    const crowds = [1, 2, 3, 4].map((client) => candidates(client * 100, { client }));
    const perClient = Map.groupBy(selectMessages(crowds.flat()), ({ client }) => client);
    const counts = [...perClient.values()].map((messages) => messages.length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(50);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(10);
  });

  test('takes 70% of the messages of clients that post once beside 300 long ones of five', () => {
    const random = seededRandom(5);
    const element = { ...chatMessage(''), text: '😀'.repeat(CHAT_TEXT_CHARS) };
    let selectedCount = 0;
    for (let round = 0; round < 200; round++) {
      const crowds = Array.from({ length: 5 }, (_, index) =>
        candidates(60, { element, client: 1_000 + index, clientRank: random() }, random),
      );
      const selected = selectMessages([...crowds.flat(), ...candidates(20, {}, random)]);
      selectedCount += selected.filter(({ client }) => client < 1_000).length;
    }
    expect(selectedCount / (200 * 20)).toBeGreaterThan(0.7);
  });

  test('takes at most 32 KB, of the longest messages that viewers can post', () => {
    const element = {
      ...chatMessage('0'.repeat(36)),
      viewer: '😀'.repeat(IDENTIFIER_CHARS),
      name: '😀'.repeat(CHAT_NAME_CHARS),
      text: '😀'.repeat(CHAT_TEXT_CHARS),
    };
    const posted = CHAT_KINDS.flatMap((kind) => candidates(50, { kind, element }));
    expect(bytesOf(posted)).toBeGreaterThan(8 * CHAT_BYTES);
    const selected = bytesOf(selectMessages(posted));
    expect(selected).toBeLessThanOrEqual(CHAT_BYTES);
    expect(selected).toBeGreaterThan(0.9 * CHAT_BYTES);
  });

  test('takes long messages as often as short ones when not all fit', () => {
    const random = seededRandom(8);
    const texts = ['a'.repeat(1_000), 'a'.repeat(10)];
    const selectedOf = texts.map(() => 0);
    for (let round = 0; round < 1_000; round++) {
      const posted = texts.flatMap((text) =>
        candidates(45, { element: { ...chatMessage(''), text } }, random),
      );
      const kinds = posted.map((each, index) => ({
        ...each,
        kind: CHAT_KINDS[index % 2] ?? 'cheer',
      }));
      for (const { element } of selectMessages(kinds)) {
        const index = texts.indexOf(element.text);
        selectedOf[index] = (selectedOf[index] ?? 0) + 1;
      }
    }
    const [long = 0, short = 0] = selectedOf;
    expect(long / short).toBeWithin(0.96, 1.04);
  });

  test('takes the same from all messages as from what was selected of parts', () => {
    const posts = fc.array(fc.constantFrom(...CHAT_KINDS), { maxLength: 600, size: 'max' });
    fc.assert(
      fc.property(posts, fc.integer(), fc.nat({ max: 600 }), (all, seed, split) => {
        const random = seededRandom(seed);
        const posted = all.map((kind, index) =>
          newCandidate({
            kind,
            element: chatMessage(`${index}`),
            rank: random(),
            client: index,
            clientRank: random(),
          }),
        );
        const parts = [posted.slice(0, split), posted.slice(split)].flatMap(selectMessages);
        expect(selectMessages(parts)).toEqual(selectMessages(posted));
      }),
    );
  });
});
