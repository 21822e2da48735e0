import { describe, expect, test } from 'bun:test';
import type { Chats, EventsInterval } from '../../../protocol/feed.ts';
import { type FeedFigures, NO_FIGURES, type Scope, withIntervals } from './feed-figures.ts';

const SCOPE: Scope = { from: 1_000, end: 1_999, to: 2_020 };

const counted = (interval: number, value: number): EventsInterval => ({
  interval,
  events: [{ type: 'view-count', data: { value, formatted: String(value) } }],
});

const line = (id: string) => ({ id, viewer: 'v', name: '', text: 'Hello', at: 0 });
const chatsAt = (interval: number, chats: Partial<Chats>): EventsInterval => {
  const none = { messages: [], questions: [], greetings: [], cheers: [], purchases: [] };
  return {
    interval,
    events: [{ type: 'chats', data: { ...none, hearts: 0, discounts: 0, ...chats } }],
  };
};

describe('the audience of a report', () => {
  test('[J-4] the audience of a report peaks at the first of the highest counts', () => {
    const counts = [counted(1_003, 4), counted(1_007, 9), counted(1_011, 9), counted(1_015, 2)];
    expect(withIntervals(NO_FIGURES, SCOPE, counts).peak).toEqual({ interval: 1_007, count: 9 });
    expect(withIntervals(NO_FIGURES, SCOPE, [chatsAt(1_000, {})]).peak).toBeNull();
  });

  test('[J-4] the audience of a report has at most 1,000 points for a long show, each the highest count of its part', () => {
    const scope = { from: 7, end: 7 + 43_200, to: 7 + 43_200 };
    const counts: EventsInterval[] = [];
    for (let interval = 7; interval <= scope.end; interval += 4) {
      counts.push(counted(interval, interval % 1_000));
    }
    const { audience } = withIntervals(NO_FIGURES, scope, counts);
    expect(audience.length).toBeLessThanOrEqual(1_000);
    expect(audience.length).toBeGreaterThan(900);
    const inOrder = audience.map(({ interval }) => interval);
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
    for (const { interval, count } of audience) expect(count).toBe(interval % 1_000);
    // 44 intervals a part: the highest count is the last, except where the counts restart.
    expect(audience.slice(0, 3).map(({ count }) => count)).toEqual([47, 91, 135]);
  });

  test('[J-4] the audience of a report has every count of a short show', () => {
    const counts = Array.from({ length: 250 }, (_, n) => counted(1_000 + 4 * n, n % 7));
    expect(withIntervals(NO_FIGURES, SCOPE, counts).audience).toEqual(
      counts.map(({ interval }, n) => ({ interval, count: n % 7 })),
    );
  });

  test('[J-5] the audience of a report counts a second for each published count', () => {
    const counts = [counted(1_003, 4), counted(1_007, 9), counted(1_500, 2)];
    expect(withIntervals(NO_FIGURES, SCOPE, counts).viewerSeconds).toBe(15);
  });

  test('[J-4] [J-8] the audience of a report excludes activity of viewers after the end and includes delayed purchases', () => {
    const late = [
      counted(2_003, 99),
      chatsAt(2_004, {
        messages: [line('m')],
        hearts: 7,
        purchases: [line('p')],
        discounts: 3,
      }),
    ];
    expect(withIntervals(NO_FIGURES, SCOPE, late)).toEqual({
      ...NO_FIGURES,
      lines: { ...NO_FIGURES.lines, purchase: 1 },
      discounts: 3,
    });
  });
});

test('[J-8] messages are counted by kind; hearts and discounts are summed', () => {
  const intervals = [
    chatsAt(1_000, { messages: [line('a'), line('b')], questions: [line('c')], hearts: 3 }),
    chatsAt(1_001, { greetings: [line('d')], cheers: [line('e')], purchases: [line('f')] }),
    chatsAt(1_002, { hearts: 4, discounts: 2 }),
  ];
  const { lines, hearts, discounts } = withIntervals(NO_FIGURES, SCOPE, intervals);
  expect(lines).toEqual({ message: 2, question: 1, greeting: 1, cheer: 1, purchase: 1 });
  expect([hearts, discounts]).toEqual([7, 2]);
});

test('feed totals are the same page by page or at once, and inputs stay unchanged', () => {
  const intervals = Array.from({ length: 200 }, (_, n) =>
    n % 2 ? counted(1_000 + 4 * n, (n * 37) % 101) : chatsAt(1_000 + 4 * n, { hearts: n }),
  );
  let figures: FeedFigures = NO_FIGURES;
  for (let at = 0; at < intervals.length; at += 7) {
    const before = structuredClone(figures);
    const next = withIntervals(figures, SCOPE, intervals.slice(at, at + 7));
    expect(figures).toEqual(before);
    figures = next;
  }
  expect(figures).toEqual(withIntervals(NO_FIGURES, SCOPE, intervals));
});
