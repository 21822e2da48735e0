import { describe, expect, test } from 'bun:test';
import { type BrowserConnection, chooseTransport } from './transport.ts';

/** The locks of a browser whose tabs stay open. */
function newLocks(): NonNullable<BrowserConnection['locks']> {
  const acquired = new Set<string>();
  const request = async (
    name: string,
    options: LockOptions,
    run: (lock: Lock | null) => Promise<unknown>,
  ) => {
    expect(options).toEqual({ ifAvailable: true });
    const isFree = !acquired.has(name);
    acquired.add(name);
    await run(isFree ? { name, mode: 'exclusive' } : null);
  };
  return { request: request as LockManager['request'] };
}

/** @returns the transport of each tab, in the order in which they are opened */
async function transportsOf(tabs: number, protocol: string, locks = newLocks()): Promise<string[]> {
  const transports: string[] = [];
  while (transports.length < tabs) transports.push(await chooseTransport({ protocol, locks }));
  return transports;
}

describe('the tabs of one browser', () => {
  test.each(['http/1.1', ''])('use at most two streams with protocol %p', async (protocol) => {
    expect(await transportsOf(7, protocol)).toEqual(['auto', 'auto', ...Array(5).fill('poll')]);
  });

  test.each(['h2', 'h3'])('all use streams with protocol %p', async (protocol) => {
    expect(await transportsOf(7, protocol)).toEqual(Array(7).fill('auto'));
  });

  test('poll where the browser has no locks', async () => {
    expect(await chooseTransport({ protocol: 'http/1.1', locks: null })).toBe('poll');
  });

  test('poll where the browser refuses locks', async () => {
    const locks = { request: () => Promise.reject(new Error('not here')) };
    expect(await chooseTransport({ protocol: '', locks })).toBe('poll');
  });
});
