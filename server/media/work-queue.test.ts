import { expect, test } from 'bun:test';
import { WorkQueue } from './work-queue.ts';

/** Adds things of these sizes while another one is worked on. @returns the order of the work */
async function orderOf(sizes: readonly number[]): Promise<number[]> {
  const queue = new WorkQueue();
  const order: number[] = [];
  const first = Promise.withResolvers<void>();
  const loads = [queue.add(0, () => first.promise)];
  for (const size of sizes) {
    loads.push(
      queue.add(size, async () => {
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

test('[M-27] a work queue goes on after work that failed', async () => {
  const queue = new WorkQueue();
  const failed = queue.add(1, () => Promise.reject(new Error('disk')));
  const next = queue.add(1, async () => 'loaded');
  await expect(failed).rejects.toThrow('disk');
  expect(await next).toBe('loaded');
});
