import { expect, test } from 'bun:test';
import { FakePlayable } from '../../../test/support/media/origin-fixture.ts';
import { Unavailable } from '../../platform/errors.ts';
import { HeldRequests } from './held-requests.ts';

const LONG_MS = 60_000;

test('[M-30] no more are held than there is room for', async () => {
  const held = new HeldRequests(2);
  const playable = new FakePlayable();
  const isThere = () => false;
  const first = [1, 2].map((n) => held.until(playable, `${n}`, isThere, LONG_MS));
  const third = held.until(playable, '3', isThere, LONG_MS);
  const outcomes = Promise.allSettled([...first, third]);
  await third.catch(() => {});
  expect(held.count).toBe(2);
  held.drain();
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  }
  await expect(held.until(playable, '4', isThere, LONG_MS)).rejects.toThrow('stopping');
  expect(held.count).toBe(0);
});

test('[M-30] all that wait for the same ask once whether it is there', async () => {
  const held = new HeldRequests();
  const playable = new FakePlayable().begin();
  let asked = 0;
  const isThere = () => {
    asked++;
    return playable.presentation().segments.length === 2;
  };
  const all = Array.from({ length: 100 }, () => held.until(playable, 'it', isThere, LONG_MS));
  expect([held.count, asked]).toEqual([100, 1]);
  playable.addSegment();
  await Promise.resolve();
  playable.addSegment();
  await Promise.all(all);
  expect(asked).toBeLessThan(5);
  expect(held.count).toBe(0);
});

test('[M-30] a wait that fails leaves nothing behind', async () => {
  const held = new HeldRequests();
  const playable = new FakePlayable();
  await expect(held.until(playable, 'it', () => false, 1)).rejects.toThrow('in time');
  await held.until(playable, 'it', () => true, LONG_MS);
  expect(held.count).toBe(0);
});
