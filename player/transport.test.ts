import { describe, expect, test } from 'bun:test';
import { type Surroundings, transportOf } from './transport.ts';

/** The locks of a browser's tabs, which are not closed. */
function newLocks(): NonNullable<Surroundings['locks']> {
  const taken = new Set<string>();
  const request = async (
    name: string,
    options: LockOptions,
    run: (lock: Lock | null) => Promise<unknown>,
  ) => {
    expect(options).toEqual({ ifAvailable: true });
    const isFree = !taken.has(name);
    taken.add(name);
    await run(isFree ? { name, mode: 'exclusive' } : null);
  };
  return { request: request as LockManager['request'] };
}

/** How each of so many tabs reads the feed. */
async function tabs(count: number, protocol: string, locks = newLocks()): Promise<string[]> {
  const all: string[] = [];
  while (all.length < count) all.push(await transportOf({ protocol, locks }));
  return all;
}

describe('tabs of one browser', () => {
  test.each(['http/1.1', ''])('never take all its connections by streams: %p', async (protocol) => {
    expect(await tabs(7, protocol)).toEqual(['auto', 'auto', ...Array(5).fill('poll')]);
  });

  test.each(['h2', 'h3'])('all stream where one connection is enough: %p', async (protocol) => {
    expect(await tabs(7, protocol)).toEqual(Array(7).fill('auto'));
  });

  test('all poll where they cannot know of each other', async () => {
    expect(await transportOf({ protocol: 'http/1.1', locks: null })).toBe('poll');
  });

  test('poll where the browser gives no locks', async () => {
    const locks = { request: () => Promise.reject(new Error('not here')) };
    expect(await transportOf({ protocol: '', locks })).toBe('poll');
  });
});
