import { describe, expect, test } from 'bun:test';
import { withLines } from '../../sdk/chat.ts';
import type { Chats } from '../../sdk/types.ts';
import type { Snapshot } from '../../sdk/viewer.ts';
import { type ChatRecord, itemsOf, type Line, newRecord, nextRecord } from './chat-items.ts';

const line = (number: number): Line => ({
  id: `line ${number}`,
  viewer: 'viewer',
  name: 'Ada',
  text: 'hello',
  at: number,
  kind: 'message',
});
const linesTo = (last: number, first = 1): Line[] =>
  Array.from({ length: last - first + 1 }, (_, index) => line(first + index));

const NOTHING_SAID: Chats = {
  messages: [],
  questions: [],
  greetings: [],
  cheers: [],
  purchases: [],
  hearts: 0,
  discounts: 0,
};

/** The chat after these snapshots. */
function afterAll(...snapshots: readonly Pick<Snapshot, 'lines' | 'discounts'>[]): ChatRecord {
  const [first, ...others] = snapshots as readonly Snapshot[];
  return others.reduce(nextRecord, newRecord(first as Snapshot));
}
const shownOf = (record: ChatRecord) =>
  itemsOf(record).map((item) => (item.kind === 'discount' ? item.count : item.id));

describe('what the chat shows', () => {
  test('is the lines as they are, while there are no discounts', () => {
    const lines = linesTo(3);
    expect(itemsOf(afterAll({ lines, discounts: 0 }))).toBe(lines);
  });

  test('has a card where discounts came, before the lines that came later', () => {
    const record = afterAll(
      { lines: linesTo(2), discounts: 0 },
      { lines: linesTo(2), discounts: 5 },
      { lines: linesTo(3), discounts: 5 },
    );
    expect(shownOf(record)).toEqual(['line 1', 'line 2', 5, 'line 3']);
  });

  test('has one card of discounts that came one after another, and two when somebody wrote', () => {
    const record = afterAll(
      { lines: linesTo(1), discounts: 0 },
      { lines: linesTo(1), discounts: 5 },
      { lines: linesTo(1), discounts: 7 },
      { lines: linesTo(2), discounts: 7 },
      { lines: linesTo(2), discounts: 8 },
    );
    expect(shownOf(record)).toEqual(['line 1', 7, 'line 2', 1]);
  });

  test('has no card of what was before the page was there', () => {
    expect(shownOf(afterAll({ lines: linesTo(1), discounts: 90 }))).toEqual(['line 1']);
  });

  test('begins with a card when nobody had written', () => {
    const record = afterAll(
      { lines: [], discounts: 0 },
      { lines: [], discounts: 3 },
      { lines: linesTo(1), discounts: 3 },
    );
    expect(shownOf(record)).toEqual([3, 'line 1']);
  });

  test('loses a card with the line before it, so that it is bounded', () => {
    const record = afterAll(
      { lines: [], discounts: 0 },
      { lines: [], discounts: 1 },
      { lines: linesTo(1), discounts: 2 },
      { lines: linesTo(101, 2), discounts: 3 },
    );
    expect(shownOf(record)).toEqual([...linesTo(101, 2).map(({ id }) => id), 1]);
  });

  test('keeps a card that is before all lines until the snapshot is full', () => {
    const full = withLines([], { ...NOTHING_SAID, messages: linesTo(1_000) });
    const empty = { lines: [], discounts: 0 };
    const shown = (lines: Snapshot['lines']) =>
      shownOf(afterAll(empty, { lines: [], discounts: 1 }, { lines, discounts: 1 }));
    expect(shown(full.slice(1))[0]).toBe(1);
    expect(shown(full)).toEqual(full.map(({ id }) => id));
  });

  test('is the same record when something else of the snapshot changed', () => {
    const record = afterAll({ lines: linesTo(1), discounts: 1 });
    expect(nextRecord(record, { lines: record.lines, discounts: 1 } as Snapshot)).toBe(record);
  });
});
