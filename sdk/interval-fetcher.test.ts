import { expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { FourbeatError } from './errors.ts';
import { IntervalFetcher } from './interval-fetcher.ts';

test('concurrent requests that fail together count as one failure for the backoff', async () => {
  const machine = new FakeMachine({ random: () => 1 });
  const failures: (() => void)[] = [];
  let isUnavailable = false;
  const fetcher = new IntervalFetcher(machine.environment, {
    interval: (interval) => {
      if (!isUnavailable) return Promise.resolve({ interval, events: [] });
      return new Promise((_, reject) =>
        failures.push(() => reject(new FourbeatError('unavailable', 'gone'))),
      );
    },
  });
  await fetcher.fetchInterval(1);
  isUnavailable = true;
  for (let interval = 2; interval < 22; interval++)
    void fetcher.fetchInterval(interval).catch(() => {});
  expect(fetcher.waitMs).toBe(Number.POSITIVE_INFINITY);
  for (const fail of failures) fail();
  await machine.settle();
  expect(fetcher.waitMs).toBe(500);
  await machine.advance(500);
  void fetcher.fetchInterval(2).catch(() => {});
  failures.at(-1)?.();
  await machine.settle();
  expect(fetcher.waitMs).toBe(1_000);
});
