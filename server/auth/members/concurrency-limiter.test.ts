import { expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';

/** A task that ends when the test ends it. */
function controlledTask() {
  const { promise, resolve } = Promise.withResolvers<string>();
  let started = false;
  return {
    work: () => {
      started = true;
      return promise;
    },
    end: resolve,
    hasStarted: () => started,
  };
}

test('[U-11] the limiter runs its maximum of tasks at once, and queued ones in order', async () => {
  const limiter = new ConcurrencyLimiter(2, 10);
  const tasks = [controlledTask(), controlledTask(), controlledTask(), controlledTask()];
  const done = tasks.map(({ work }) => limiter.run(work));
  const started = () => tasks.map(({ hasStarted }) => hasStarted());
  expect(started()).toEqual([true, true, false, false]);
  tasks[1]?.end('second');
  expect(await done[1]).toBe('second');
  expect(started()).toEqual([true, true, true, false]);
  tasks[0]?.end('first');
  await done[0];
  expect(started()).toEqual([true, true, true, true]);
});

test('[U-11] the limiter rejects a task at once when its queue is full, and accepts tasks again later', async () => {
  const limiter = new ConcurrencyLimiter(1, 1);
  const [first, second] = [controlledTask(), controlledTask()];
  const one = limiter.run(first.work);
  const two = limiter.run(second.work);
  const third = await limiter.run(async () => 'no').catch((error) => error);
  expect(third).toBeInstanceOf(Unavailable);
  first.end('');
  second.end('');
  await Promise.all([one, two]);
  expect(await limiter.run(async () => 'yes')).toBe('yes');
});

test('[U-11] a failed task frees its slot', async () => {
  const limiter = new ConcurrencyLimiter(1, 10);
  const failing = limiter
    .run(() => Promise.reject(new Error('no')))
    .catch((error) => error.message);
  const next = limiter.run(async () => 'next');
  expect(await failing).toBe('no');
  expect(await next).toBe('next');
  expect(await limiter.run(async () => 'last')).toBe('last');
});
