import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { Batch } from './batch.ts';

describe('a batch', () => {
  test('[R-3] a batch combines the items of one turn of the event loop into one call, with results in order', async () => {
    const calls: number[][] = [];
    const batch = new Batch<number, string>(async (items) => {
      calls.push([...items]);
      return items.map((item) => `did ${item}`);
    }, 100);
    const first = await Promise.all([batch.add(1), batch.add(2), batch.add(3)]);
    const second = await batch.add(4);
    expect(calls).toEqual([[1, 2, 3], [4]]);
    expect([...first, second]).toEqual(['did 1', 'did 2', 'did 3', 'did 4']);
  });

  test('[R-3] a batch waits for its pace after a call, except when many items wait', async () => {
    const [sizes, paceMs] = [[] as number[], 50];
    const run = async (items: readonly number[]) => {
      sizes.push(items.length);
      return items;
    };
    const batch = new Batch<number, number>(run, 1_000, null, paceMs);
    const fromMs = performance.now();
    await batch.add(0);
    await Promise.all([batch.add(1), batch.add(2)]);
    expect(performance.now() - fromMs).toBeGreaterThanOrEqual(paceMs - 1);
    expect(sizes).toEqual([1, 2]);
    const slow = new Batch<number, number>(run, 1_000, null, 60_000);
    await slow.add(0);
    const few = slow.add(1);
    await Promise.all(Array.from({ length: 400 }, (_, n) => slow.add(n)));
    expect(await few).toBe(1);
    expect(sizes).toEqual([1, 2, 1, 401]);
  });

  test('a batch makes no call larger than its maximum', async () => {
    const sizes: number[] = [];
    const batch = new Batch<number, number>(async (items) => {
      sizes.push(items.length);
      return items;
    }, 100);
    const all = Array.from({ length: 250 }, (_, n) => n);
    expect(await Promise.all(all.map((n) => batch.add(n)))).toEqual(all);
    expect(sizes).toEqual([100, 100, 50]);
  });

  test('[R-1] a failed call rejects its own items and no others', async () => {
    const batch = new Batch<number, number>(async (items) => {
      if (items.includes(3)) throw new Error('the disk is full');
      return items;
    }, 2);
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((n) => batch.add(n)));
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
  });

  test('[I-3] an error that a waiter throws affects no other waiter', async () => {
    const defects: unknown[] = [];
    const results: string[] = [];
    const run = async (items: readonly number[]) => {
      if (items.includes(4)) throw new Error('the disk is full');
      return items;
    };
    const batch = new Batch<number, number>(run, 3, null, 0, (error) => void defects.push(error));
    const waiter = (n: number) => ({
      resolve: (result: number) => notify(n, `did ${result}`),
      reject: () => notify(n, `refused ${n}`),
    });
    const notify = (n: number, result: string) => {
      if (n === 2 || n === 5) throw new Error(`a defect of ${n}`);
      results.push(result);
    };
    for (const n of [1, 2, 3, 4, 5, 6]) batch.enqueue(n, waiter(n));
    expect(await batch.add(7)).toBe(7);
    expect(results).toEqual(['did 1', 'did 3', 'refused 4', 'refused 6']);
    expect(defects).toEqual([new Error('a defect of 2'), new Error('a defect of 5')]);
  });

  test('a batch collects items while four calls are in flight, and does not wait for a stalled call', async () => {
    const sizes: number[] = [];
    const pending: (() => void)[] = [];
    const batch = new Batch<number, number>(async (items) => {
      sizes.push(items.length);
      await new Promise<void>((resolve) => pending.push(resolve));
      return items;
    }, 100);
    const nextTick = () => new Promise((resolve) => setImmediate(resolve));
    const all: Promise<number>[] = [];
    for (let n = 0; n < 30; n++) {
      all.push(batch.add(n));
      await nextTick();
    }
    expect(sizes).toEqual([1, 1, 1, 1]);
    pending.shift()?.();
    expect(await all[0]).toBe(0);
    expect(sizes).toEqual([1, 1, 1, 1, 26]);
    all.push(batch.add(30));
    // The four calls in flight do not end; the item is sent anyway.
    while (sizes.length < 6) await Bun.sleep(1);
    for (const resolve of pending) resolve();
    expect(await Promise.all(all)).toEqual(Array.from({ length: 31 }, (_, n) => n));
  });

  test('[R-15] a call without a result is Unavailable at its deadline', async () => {
    const batch = new Batch<number, number>(() => new Promise(() => {}), 100, 30);
    expect(await batch.add(1).catch((error: unknown) => error)).toBeInstanceOf(Unavailable);
  });
});
