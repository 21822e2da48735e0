import { describe, expect, test } from 'bun:test';
import { intervalAt } from '../../protocol/interval.ts';
import { FeedPosition } from './feed-position.ts';

const NOW_MS = 1_760_000_000_000;
const CURRENT = intervalAt(NOW_MS);

function createPosition(catchUpMs = 60_000) {
  const received: unknown[] = [];
  const position = new FeedPosition({ nowMs: () => NOW_MS }, catchUpMs, {
    onInterval: ({ interval }) => received.push(interval),
    onState: (state) => received.push(state),
    onGap: (from, to) => received.push([from, to]),
  });
  return { position, received };
}

describe('the position in the feed', () => {
  test('delivers each interval once, from either transport, and no older one', () => {
    const { position, received } = createPosition();
    for (const interval of [CURRENT - 2, CURRENT - 2, CURRENT - 1, CURRENT - 2]) {
      position.accept({ interval, events: [] });
    }
    expect(received).toEqual(['live', CURRENT - 2, CURRENT - 1]);
  });

  test('continues at the oldest interval to catch up on, and reports the gap', () => {
    const { position, received } = createPosition();
    position.accept({ interval: CURRENT - 1_000, events: [] });
    expect(position.from).toBe(CURRENT - 240);
    position.skipTo(position.from);
    position.skipTo(position.from);
    expect(received).toEqual(['catching-up', CURRENT - 1_000, [CURRENT - 999, CURRENT - 241]]);
  });

  test('catches up on at least 5 s, as polls arrive late', () => {
    const { position } = createPosition(0);
    position.accept({ interval: CURRENT - 10, events: [] });
    expect(position.from).toBe(CURRENT - 9);
  });
});
