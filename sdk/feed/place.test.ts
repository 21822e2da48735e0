import { describe, expect, test } from 'bun:test';
import { intervalAt } from '../../protocol/interval.ts';
import { FeedPlace } from './place.ts';

const NOW_MS = 1_760_000_000_000;
const CURRENT = intervalAt(NOW_MS);

function begin(catchUpMs = 60_000) {
  const told: unknown[] = [];
  const place = new FeedPlace({ nowMs: () => NOW_MS }, catchUpMs, {
    onInterval: ({ interval }) => told.push(interval),
    onState: (state) => told.push(state),
    onGap: (from, to) => told.push([from, to]),
  });
  return { place, told };
}

describe('the place in the feed', () => {
  test('tells an interval once, whichever way it comes, and none that is older', () => {
    const { place, told } = begin();
    for (const interval of [CURRENT - 2, CURRENT - 2, CURRENT - 1, CURRENT - 2]) {
      place.take({ interval, events: [] });
    }
    expect(told).toEqual(['live', CURRENT - 2, CURRENT - 1]);
  });

  test('goes on where what is wanted begins, and tells what is passed over', () => {
    const { place, told } = begin();
    place.take({ interval: CURRENT - 1_000, events: [] });
    expect(place.from).toBe(CURRENT - 240);
    place.goOnAt(place.from);
    place.goOnAt(place.from);
    expect(told).toEqual(['catching-up', CURRENT - 1_000, [CURRENT - 999, CURRENT - 241]]);
  });

  test('catches up with 5 s at least, as polls come late', () => {
    const { place } = begin(0);
    place.take({ interval: CURRENT - 10, events: [] });
    expect(place.from).toBe(CURRENT - 9);
  });
});
