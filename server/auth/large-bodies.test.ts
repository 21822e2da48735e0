import { expect, test } from 'bun:test';
import { RateLimited } from '../platform/errors.ts';
import { LARGE_BODIES_MAX, LargeBodies } from './large-bodies.ts';

test('[L-18] one large body is parsed in a turn of the event loop, and accounts take turns', async () => {
  const bodies = new LargeBodies();
  const parsed: string[] = [];
  const read = (account: string) =>
    bodies.run(account, async (beforeParse) => {
      await beforeParse();
      parsed.push(account);
    });
  const all = [...Array.from({ length: 10 }, () => read('many')), read('one')];
  for (let before = 0; parsed.length < 11; before = parsed.length) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(parsed.length - before).toBeLessThanOrEqual(1);
  }
  await Promise.all(all);
  expect(parsed.indexOf('one')).toBeLessThan(3);
});

test('[L-18] an account has at most 64 large bodies in progress, and others have their own', async () => {
  const bodies = new LargeBodies();
  const complete = Promise.withResolvers<void>();
  const read = (account: string) => bodies.run(account, () => complete.promise);
  const all = Array.from({ length: LARGE_BODIES_MAX }, () => read('one'));
  expect(await read('one').catch((error) => error)).toBeInstanceOf(RateLimited);
  all.push(read('another'));
  complete.resolve();
  await Promise.all(all);
  await read('one');
});
