import { expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { OpenStreams } from './open-streams.ts';
import { UnsentBudget } from './unsent-budget.ts';

/** Opens streams of clients, at most ten. */
function fixture() {
  const streams = new OpenStreams(() => 0, new UnsentBudget(), 10);
  const openCounts: Record<string, number> = {};
  let seat = 0;
  return {
    streams,
    openCounts,
    open(client: string) {
      const viewer = { streamId: 's', seat: seat++, expiresMs: 60_000 };
      return streams.open(viewer, client, ({ onEnd }) => {
        openCounts[client] = (openCounts[client] ?? 0) + 1;
        const end = () => {
          openCounts[client] = (openCounts[client] ?? 0) - 1;
          onEnd();
        };
        return { end, abort: end };
      });
    },
  };
}

test('[F-25] a further event stream ends one of the address with the most, and is refused when that is its own', () => {
  const { streams, open, openCounts } = fixture();
  for (let n = 0; n < 9; n++) open('192.0.2.1');
  open('192.0.2.2');
  expect(() => open('192.0.2.1')).toThrow(Unavailable);
  for (let n = 0; n < 4; n++) open('192.0.2.2');
  expect(openCounts).toEqual({ '192.0.2.1': 5, '192.0.2.2': 5 });
  expect(() => open('192.0.2.2')).toThrow(Unavailable);
  open('192.0.2.3');
  expect(Object.values(openCounts).toSorted()).toEqual([1, 4, 5]);
  streams.endAll();
});

test('[F-25] a stream that ends for another makes no room for the next request of its connection', () => {
  const streams = new OpenStreams(() => 0, new UnsentBudget(), 4);
  let openCount = 0;
  let seat = 0;
  const open = (client: string, onEnded: () => void) =>
    streams.open({ streamId: 's', seat: seat++, expiresMs: 60_000 }, client, ({ onEnd }) => {
      openCount++;
      const end = () => {
        openCount--;
        onEnd();
        onEnded();
      };
      return { end, abort: end };
    });
  const openAgain = () => {
    try {
      open('192.0.2.1', () => {});
    } catch {
      // Too many.
    }
  };
  for (let n = 0; n < 4; n++) open('192.0.2.1', openAgain);
  open('192.0.2.2', () => {});
  expect(openCount).toBe(4);
  streams.endAll();
});

test('[F-25] the event streams of an IPv6 /48 count together, and one that ended makes room', () => {
  const { streams, open, openCounts } = fixture();
  const first = open('2001:db8:1:1::/64');
  for (let n = 2; n <= 10; n++) open(`2001:db8:1:${n}::/64`);
  expect(() => open('2001:db8:1:99::/64')).toThrow(Unavailable);
  first.end();
  open('2001:db8:1:99::/64');
  expect(openCounts['2001:db8:1:1::/64']).toBe(0);
  open('192.0.2.1');
  expect(openCounts['192.0.2.1']).toBe(1);
  streams.endAll();
});
