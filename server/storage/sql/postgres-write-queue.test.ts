import { expect, test } from 'bun:test';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { WriteQueue } from './postgres-write-queue.ts';

test('each write leaves the queue once, whatever is added, put back or expired meanwhile', () => {
  const random = seededRandom(7);
  const below = (n: number) => Math.floor(random() * n);
  const queue = new WriteQueue<{ id: number; account: string }>();
  const left: number[] = [];
  let added = 0;
  for (let step = 0; step < 20_000; step++) {
    const action = below(10);
    if (action < 5) {
      queue.push(`procedure ${below(3)}`, { id: added++, account: `account ${below(4)}` });
    } else if (action < 9) {
      const blocked = `account ${below(4)}`;
      const write = queue.shift((account) => account !== blocked);
      expect(write?.account).not.toBe(blocked);
      if (write && below(4) === 0) queue.unshift(`procedure ${below(3)}`, write);
      else if (write) left.push(write.id);
    } else left.push(...queue.takeWhile(({ id }) => id < added - 50).map(({ id }) => id));
  }
  for (let write = queue.shift(() => true); write; write = queue.shift(() => true)) {
    left.push(write.id);
  }
  expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: added }, (_, id) => id));
  expect(queue.clear()).toEqual([]);
});
