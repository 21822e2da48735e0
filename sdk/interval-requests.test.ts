import { expect, test } from 'bun:test';
import { FakeMachine } from '../test/support/sdk/fake-environment.ts';
import { FourbeatError } from './errors.ts';
import { IntervalRequests } from './interval-requests.ts';

test('those under way together that fail are one failure: the next is asked for soon', async () => {
  const machine = new FakeMachine({ random: () => 1 });
  const failures: (() => void)[] = [];
  let isAway = false;
  const requests = new IntervalRequests(machine.environment, {
    interval: (interval) => {
      if (!isAway) return Promise.resolve({ interval, events: [] });
      return new Promise((_, reject) =>
        failures.push(() => reject(new FourbeatError('away', 'gone'))),
      );
    },
  });
  await requests.ask(1);
  isAway = true;
  for (let interval = 2; interval < 22; interval++) void requests.ask(interval).catch(() => {});
  expect(requests.waitMs).toBe(Number.POSITIVE_INFINITY);
  for (const fail of failures) fail();
  await machine.settle();
  expect(requests.waitMs).toBe(500);
  await machine.advance(500);
  void requests.ask(2).catch(() => {});
  failures.at(-1)?.();
  await machine.settle();
  expect(requests.waitMs).toBe(1_000);
});
