import { expect, test } from 'bun:test';
import { keepingIterators } from '../../test/support/kept-iterators.ts';
import { GroupQueue } from './group-queue.ts';

function queueOf(items: readonly string[]): GroupQueue<string> {
  const queue = new GroupQueue<string>();
  for (const item of items) queue.push(item.charAt(0), item);
  return queue;
}

function takeAll(queue: GroupQueue<string>): string[] {
  const taken: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) taken.push(item);
  return taken;
}

test('groups take turns, and the items of one group are in order', () => {
  const queue = queueOf(['a1', 'a2', 'a3', 'b1', 'c1', 'c2']);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect(queue.shift()).toBeUndefined();
});

test('groups that are not ready keep their turn', () => {
  const queue = queueOf(['a1', 'a2', 'b1', 'c1']);
  expect(queue.shift((group) => group === 'c')).toBe('c1');
  expect(queue.shift(() => false)).toBeUndefined();
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'a2']);
});

test('an item that is put back is the first of its group', () => {
  const queue = queueOf(['a1', 'a2', 'b1']);
  const first = queue.shift() as string;
  queue.unshift('a', first);
  expect(takeAll(queue)).toEqual(['b1', 'a1', 'a2']);
});

test('groups that lose their last item otherwise lose their turn', () => {
  const queue = queueOf(['a1', 'b1', 'c1', 'c2']);
  expect(queue.largestGroup()).toBe('c');
  expect(queue.popOf('a')).toBe('a1');
  expect(queue.takeWhile((item) => item === 'b1' || item === 'c1')).toEqual(['b1', 'c1']);
  queue.push('b', 'b2');
  queue.push('a', 'a2');
  expect([queue.lengthOf('a'), queue.lengthOf('d')]).toEqual([1, 0]);
  expect(takeAll(queue)).toEqual(['c2', 'b2', 'a2']);
});

test('a cleared queue returns all items and is empty', () => {
  const queue = queueOf(['a1', 'b1', 'a2']);
  expect(queue.clear()).toEqual(['a1', 'a2', 'b1']);
  expect(queue.largestGroup()).toBeUndefined();
  expect(queue.shift()).toBeUndefined();
});

test('a queue keeps no item that was taken, even if every iterator is kept', async () => {
  const queue = new GroupQueue<object>();
  await keepingIterators(async () => {
    const items: WeakRef<object>[] = [];
    for (let n = 0; n < 5_000; n++) {
      const item = { n };
      items.push(new WeakRef(item));
      queue.push(`group ${n % 10}`, item);
      if (n >= 20) queue.shift();
    }
    await Bun.sleep(0);
    Bun.gc(true);
    expect(items.filter((item) => item.deref() !== undefined).length).toBeLessThan(500);
  });
});
