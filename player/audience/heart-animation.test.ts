import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  addHearts,
  HEARTS_ON_SCREEN_MAX,
  type HeartAnimation,
  NO_HEARTS,
  removeHeart,
} from './heart-animation.ts';

describe('the heart animation', () => {
  test('has as many hearts as were sent, while they are few', () => {
    expect(addHearts(NO_HEARTS, 3, Math.random).hearts).toHaveLength(3);
    expect(addHearts(NO_HEARTS, 1, Math.random).hearts[0]?.delayMs).toBe(0);
  });

  test('is unchanged when none was sent, or the number decreased', () => {
    const animation = addHearts(NO_HEARTS, 2, Math.random);
    expect(addHearts(animation, 0, Math.random)).toBe(animation);
    expect(addHearts(animation, -40, Math.random)).toBe(animation);
  });

  test('is bounded and never reuses an id, however many are sent and removed', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 1e9 }), fc.nat({ max: 5 })));
    fc.assert(
      fc.property(steps, (all) => {
        let animation: HeartAnimation = NO_HEARTS;
        const ids: number[] = [];
        for (const [sent, removedFromEnd] of all) {
          const next = addHearts(animation, sent, Math.random);
          ids.push(...next.hearts.slice(animation.hearts.length).map(({ id }) => id));
          expect(next.hearts.length).toBeLessThanOrEqual(HEARTS_ON_SCREEN_MAX);
          animation = removeHeart(next, next.hearts.at(-1 - removedFromEnd)?.id ?? -1);
        }
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });

  test('starts the hearts of one change one after another within a second', () => {
    const delays = addHearts(NO_HEARTS, 8, () => 0.5).hearts.map(({ delayMs }) => delayMs);
    expect(delays).toEqual([...delays].sort((a, b) => a - b));
    expect(delays.at(-1)).toBeLessThan(1_000);
  });
});
