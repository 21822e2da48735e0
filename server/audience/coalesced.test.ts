import { describe, expect, test } from 'bun:test';
import { Coalesced } from './coalesced.ts';

/** Calls that end when they are told to; each is known by its number. */
function setUp(pauseMs = 0) {
  const calls: Array<PromiseWithResolvers<number>> = [];
  const coalesced = new Coalesced(
    () => {
      const call = Promise.withResolvers<number>();
      calls.push(call);
      return call.promise;
    },
    () => pauseMs,
  );
  const end = async (at: number) => {
    calls[at]?.resolve(at);
    await Bun.sleep(pauseMs + 1);
  };
  return { calls, coalesced, end };
}

describe('an answer that many ask for', () => {
  test('is of a call that began when they asked or later, one call at a time', async () => {
    const { calls, coalesced, end } = setUp();
    const first = coalesced.ask();
    const later = [coalesced.ask(), coalesced.ask()];
    expect(calls.length).toBe(1);
    await end(0);
    expect(calls.length).toBe(2);
    const last = coalesced.ask();
    await end(1);
    await end(2);
    expect(await Promise.all([first, ...later, last])).toEqual([0, 1, 1, 2]);
    expect(coalesced.isIdle()).toBe(true);
  });

  test('is asked for again only after a rest', async () => {
    const { calls, coalesced } = setUp(60);
    const first = coalesced.ask();
    calls[0]?.resolve(0);
    await first;
    const answeredMs = performance.now();
    const second = coalesced.ask();
    expect(calls.length).toBe(1);
    while (calls.length === 1) await Bun.sleep(1);
    expect(performance.now() - answeredMs).toBeGreaterThan(50);
    calls[1]?.resolve(1);
    expect(await second).toBe(1);
  });

  test('may be an error for those who waited for it; the next call begins at once', async () => {
    const { calls, coalesced } = setUp(60_000);
    const failed = coalesced.ask().catch((error) => error.message);
    const next = coalesced.ask();
    calls[0]?.reject(new Error('away'));
    expect(await failed).toBe('away');
    await Bun.sleep(1);
    calls[1]?.resolve(7);
    expect(await next).toBe(7);
  });
});
