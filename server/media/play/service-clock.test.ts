import { afterAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { clockOffsetMs, syncServiceClock } from './service-clock.ts';

test('[K-2] the clock offset is exact to half the shortest round trip', () => {
  const trips = fc.record({
    sentMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    thereMs: fc.double({ min: 0, max: 300, noNaN: true }),
    backMs: fc.double({ min: 0, max: 300, noNaN: true }),
  });
  fc.assert(
    fc.property(
      fc.array(trips, { minLength: 1, maxLength: 10 }),
      fc.integer({ min: 1.7e12, max: 1.8e12 }),
      (all, offsetMs) => {
        const samples = all.map(({ sentMs, thereMs, backMs }) => ({
          sentMs,
          receivedMs: sentMs + thereMs + backMs,
          serviceMs: Math.floor(sentMs + thereMs + offsetMs),
        }));
        const least = Math.min(...all.map(({ thereMs, backMs }) => thereMs + backMs));
        expect(Math.abs(clockOffsetMs(samples) - offsetMs)).toBeLessThanOrEqual(least / 2 + 0.51);
      },
    ),
  );
});

let answer = () => Response.json({ now: Date.now() + 5_000_000, interval: 1 });
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer() });
afterAll(() => server.stop(true));

test('[K-2] the clock follows the service and keeps its offset when a request fails', async () => {
  const clock = await syncServiceClock(server.url.origin);
  expect(Math.abs(clock.nowMs() - Date.now() - 5_000_000)).toBeLessThan(1_000);
  answer = () => new Response('', { status: 503 });
  await clock.refresh();
  expect(Math.abs(clock.nowMs() - Date.now() - 5_000_000)).toBeLessThan(1_000);
  answer = () => Response.json({ now: Date.now() - 5_000_000, interval: 1 });
  await clock.refresh();
  expect(Math.abs(clock.nowMs() - Date.now() + 5_000_000)).toBeLessThan(1_000);
});

test('[M-9] another server, or none, gives an error message', async () => {
  answer = () => new Response('hello');
  await expect(syncServiceClock(server.url.origin)).rejects.toThrow('is not a Fourbeat service');
  await expect(syncServiceClock('http://127.0.0.1:1')).rejects.toThrow('is it running?');
});
