import { expect, test } from 'bun:test';
import { WorkQueue } from './work-queue.ts';

/** Adds things of these sizes while another one is worked on. @returns the order of the work */
async function orderOf(sizes: readonly number[]): Promise<number[]> {
  const queue = new WorkQueue();
  const order: number[] = [];
  const first = Promise.withResolvers<void>();
  const loads = [queue.add('a', {}, 0, () => first.promise)];
  for (const size of sizes) {
    loads.push(
      queue.add('a', {}, size, async () => {
        order.push(size);
      }),
    );
  }
  first.resolve();
  await Promise.all(loads);
  return order;
}

test('[M-27] a work queue takes the smallest one and the one that waits longest in turn', async () => {
  expect(await orderOf([9, 8, 7, 1, 2, 3])).toEqual([1, 9, 2, 8, 3, 7]);
});

test('[M-27] networks take turns in a work queue', async () => {
  const queue = new WorkQueue();
  const order: string[] = [];
  const add = (network: string) => queue.add(network, {}, 1, async () => void order.push(network));
  await Promise.all(['a', 'a', 'a', 'a', 'b', 'b', 'c'].map(add));
  expect(order.join('')).toBe('aabcaba');
});

test('[M-27] work of one network that another waits for takes the turns of both, and is done once', async () => {
  const queue = new WorkQueue();
  const order: number[] = [];
  const keys = Array.from({ length: 20 }, () => ({}));
  const works = keys.map((key, n) => queue.add('a', key, 1, async () => void order.push(n)));
  for (const network of ['b', 'b', 'c']) queue.join(network, keys[19] as object);
  queue.join('b', {});
  await Promise.all(works);
  expect(order.indexOf(19)).toBe(2);
  expect(order).toHaveLength(20);
  queue.join('b', keys[19] as object);
  expect(queue.isIdle).toBe(true);
});

test('[M-27] a work queue goes on after work that failed', async () => {
  const queue = new WorkQueue();
  const failed = queue.add('a', {}, 1, () => Promise.reject(new Error('disk')));
  const next = queue.add('a', {}, 1, async () => 'loaded');
  await expect(failed).rejects.toThrow('disk');
  expect(await next).toBe('loaded');
});
