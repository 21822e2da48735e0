import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import type { OwnContact } from '../../protocol/winner-contacts.ts';
import { OwnContactReader, pollAfterEnd } from './own-contact-reader.ts';

const NOTHING: OwnContact = { request: null, hasDetails: false };
const STORED: OwnContact = { request: null, hasDetails: true };
const MINUTE_MS = 60_000;

let page: ReturnType<typeof newPage>;
let reads = 0;

beforeEach(() => {
  jest.useFakeTimers();
  page = newPage();
  reads = 0;
});
afterEach(() => jest.useRealTimers());

/** The visibility of a page that tests hide and show. */
function newPage() {
  const listeners = new Set<() => void>();
  let isHidden = false;
  return {
    isHidden: () => isHidden,
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    setHidden: (value: boolean) => {
      isHidden = value;
      for (const listener of listeners) listener();
    },
  };
}

const poll = () => pollAfterEnd(() => void reads++, page);

test('[W-15] a visible page reads every 30 to 60 s after the end of the show', () => {
  poll();
  jest.advanceTimersByTime(29_000);
  expect(reads).toBe(0);
  jest.advanceTimersByTime(31_000);
  expect(reads).toBe(1);
  jest.advanceTimersByTime(60 * MINUTE_MS);
  expect(reads).toBeGreaterThanOrEqual(60);
  expect(reads).toBeLessThanOrEqual(122);
});

test('[W-15] pages read at different times', () => {
  const atMs = new Set<number>();
  for (let count = 0; count < 20; count++) pollAfterEnd(() => atMs.add(Date.now()), page);
  jest.advanceTimersByTime(MINUTE_MS);
  expect(atMs.size).toBeGreaterThan(10);
});

test('[W-15] a hidden page reads nothing, and reads once it is visible', () => {
  poll();
  page.setHidden(true);
  jest.advanceTimersByTime(60 * MINUTE_MS);
  expect(reads).toBe(0);
  page.setHidden(false);
  expect(reads).toBe(1);
  jest.advanceTimersByTime(MINUTE_MS);
  expect(reads).toBeGreaterThanOrEqual(2);
});

test('[W-15] a page that is hidden at the end of the show reads once it is visible', () => {
  page.setHidden(true);
  poll();
  jest.advanceTimersByTime(10 * MINUTE_MS);
  expect(reads).toBe(0);
  page.setHidden(false);
  expect(reads).toBe(1);
});

test('[W-15] 24 h after the end a page reads only when it becomes visible', () => {
  const startMs = performance.now();
  poll();
  jest.advanceTimersByTime(25 * 60 * MINUTE_MS);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(25 * 60 * MINUTE_MS);
  const before = reads;
  jest.advanceTimersByTime(60 * MINUTE_MS);
  expect(reads).toBe(before);
  page.setHidden(true);
  page.setHidden(false);
  expect(reads).toBe(before + 1);
  jest.advanceTimersByTime(60 * MINUTE_MS);
  expect(reads).toBe(before + 1);
});

test('[W-15] a page that has stopped reads nothing more', () => {
  const stop = poll();
  stop();
  jest.advanceTimersByTime(10 * MINUTE_MS);
  page.setHidden(true);
  page.setHidden(false);
  expect(reads).toBe(0);
});

/** A reader whose responses tests send. */
function newReader() {
  const pending: PromiseWithResolvers<OwnContact>[] = [];
  const received: OwnContact[] = [];
  const read = () => {
    const response = Promise.withResolvers<OwnContact>();
    pending.push(response);
    return response.promise;
  };
  const reader = new OwnContactReader({ read }, (own) => received.push(own));
  return { reader, pending, received };
}

/** Lets responses arrive. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
}

test('[W-14] a response that was requested before a later read is discarded', async () => {
  const { reader, pending, received } = newReader();
  reader.read();
  jest.advanceTimersByTime(2_000);
  reader.read();
  jest.advanceTimersByTime(2_000);
  expect(pending).toHaveLength(2);
  pending[1]?.resolve(STORED);
  pending[0]?.resolve(NOTHING);
  await settle();
  expect(received).toEqual([STORED]);
});

test('[W-14] a failed read is repeated up to three times, and not after a stop', async () => {
  const { reader, pending } = newReader();
  const failAll = async () => {
    for (let count = 0; count < 10; count++) {
      jest.advanceTimersByTime(5_000);
      pending.at(-1)?.reject(new Error('no connection'));
      await settle();
    }
  };
  reader.read();
  await failAll();
  expect(pending).toHaveLength(4);
  reader.read();
  jest.advanceTimersByTime(2_000);
  reader.stop();
  await failAll();
  expect(pending).toHaveLength(5);
});
