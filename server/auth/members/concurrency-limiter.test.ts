import { expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<string>();
  let begun = false;
  return {
    work: () => {
      begun = true;
      return promise;
    },
    end: resolve,
    hasBegun: () => begun,
  };
}

test('[U-11] so many work at once, the next when one is done, in their order', async () => {
  const turns = new ConcurrencyLimiter(2, 10);
  const works = [held(), held(), held(), held()];
  const done = works.map(({ work }) => turns.run(work));
  const begun = () => works.map(({ hasBegun }) => hasBegun());
  expect(begun()).toEqual([true, true, false, false]);
  works[1]?.end('second');
  expect(await done[1]).toBe('second');
  expect(begun()).toEqual([true, true, true, false]);
  works[0]?.end('first');
  await done[0];
  expect(begun()).toEqual([true, true, true, true]);
});

test('[U-11] beyond those that may wait it is refused at once, and works again later', async () => {
  const turns = new ConcurrencyLimiter(1, 1);
  const [first, second] = [held(), held()];
  const one = turns.run(first.work);
  const two = turns.run(second.work);
  const third = await turns.run(async () => 'no').catch((error) => error);
  expect(third).toBeInstanceOf(Unavailable);
  first.end('');
  second.end('');
  await Promise.all([one, two]);
  expect(await turns.run(async () => 'yes')).toBe('yes');
});

test('[U-11] work that fails gives its place on', async () => {
  const turns = new ConcurrencyLimiter(1, 10);
  const failing = turns.run(() => Promise.reject(new Error('no'))).catch((error) => error.message);
  const next = turns.run(async () => 'next');
  expect(await failing).toBe('no');
  expect(await next).toBe('next');
  expect(await turns.run(async () => 'last')).toBe('last');
});
