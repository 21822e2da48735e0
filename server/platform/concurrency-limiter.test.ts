import { expect, test } from 'bun:test';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { Unavailable } from './errors.ts';

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
  const limiter = new ConcurrencyLimiter(2, 10, 'Too many tasks.');
  const tasks = [controlledTask(), controlledTask(), controlledTask(), controlledTask()];
  const done = tasks.map(({ work }) => limiter.run('group', work));
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
  const limiter = new ConcurrencyLimiter(1, 1, 'Too many tasks.');
  const [first, second] = [controlledTask(), controlledTask()];
  const one = limiter.run('group', first.work);
  const two = limiter.run('group', second.work);
  const third = await limiter.run('group', async () => 'no').catch((error) => error);
  expect(third).toBeInstanceOf(Unavailable);
  first.end('');
  second.end('');
  await Promise.all([one, two]);
  expect(await limiter.run('group', async () => 'yes')).toBe('yes');
});

test('[U-11] a failed task frees its slot', async () => {
  const limiter = new ConcurrencyLimiter(1, 10, 'Too many tasks.');
  const failing = limiter
    .run('group', () => Promise.reject(new Error('no')))
    .catch((error) => error.message);
  const next = limiter.run('group', async () => 'next');
  expect(await failing).toBe('no');
  expect(await next).toBe('next');
  expect(await limiter.run('group', async () => 'last')).toBe('last');
});

test('[U-11] a full queue rejects a task of the group with the most for one of another group, and groups take turns', async () => {
  const limiter = new ConcurrencyLimiter(1, 3, 'Too many tasks.');
  const running = controlledTask();
  const order: string[] = [];
  const run = (group: string, name: string) =>
    limiter
      .run(group, async () => void order.push(name))
      .catch((error) => void order.push(`${name}: ${error instanceof Unavailable}`));
  const first = limiter.run('many', running.work);
  const others = ['a', 'b', 'c', 'd'].map((name) => run('many', name));
  const few = run('few', 'e');
  await Bun.sleep(0);
  expect(order).toEqual(['d: true', 'c: true']);
  running.end('');
  await Promise.all([first, few, ...others]);
  expect(order.slice(2)).toEqual(['a', 'e', 'b']);
});

test('[U-11] while a group runs its most, its next task waits for it, and those of other groups do not', async () => {
  const limiter = new ConcurrencyLimiter(2, 10, 'Too many tasks.', 1);
  const groups = ['a', 'a', 'b', 'c'];
  const tasks = groups.map(controlledTask);
  const done = tasks.map(({ work }, index) => limiter.run(groups[index] ?? '', work));
  const started = () => tasks.map(({ hasStarted }) => hasStarted());
  expect(started()).toEqual([true, false, true, false]);
  tasks[2]?.end('b');
  await done[2];
  expect(started()).toEqual([true, false, true, true]);
  tasks[3]?.end('c');
  await done[3];
  expect(started()).toEqual([true, false, true, true]);
  tasks[0]?.end('a');
  await done[0];
  expect(started()).toEqual([true, true, true, true]);
  tasks[1]?.end('a');
  await done[1];
  expect(limiter.isIdle).toBe(true);
});
