import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import type { Stream } from '../../sdk/types.ts';
import { watchReopening, watchVideoEnd } from './show-end.ts';

type Status = Stream['status'] | null;

let status: Status = 'STREAMING';
let reads = 0;
let calls: string[] = [];
const readStatus = async () => {
  reads++;
  return status;
};
const onEnded = () => void calls.push('ended');
const onReopened = () => void calls.push('reopened');

beforeEach(() => {
  jest.useFakeTimers();
  status = 'STREAMING';
  reads = 0;
  calls = [];
});
afterEach(() => jest.useRealTimers());

/** Lets time pass in steps, so that each response arrives before the next timer. */
async function pass(ms: number): Promise<void> {
  for (let passedMs = 0; passedMs < ms; passedMs += 500) {
    jest.advanceTimersByTime(500);
    await Promise.resolve();
    await Promise.resolve();
  }
}

function endVideo() {
  const video = new EventTarget();
  const stop = watchVideoEnd(video, readStatus, { onEnded, onLive: onReopened });
  video.dispatchEvent(new Event('ended'));
  return { video, stop };
}

test('[S-4] the show has ended once its video has and the service says so', async () => {
  endVideo();
  await pass(3_000);
  expect(calls).toEqual([]);
  status = 'ENDED';
  await pass(2_000);
  expect(calls).toEqual(['ended']);
  await pass(30_000);
  expect(calls).toEqual(['ended']);
});

test('[S-19] a show that stays live when its video ends was reopened', async () => {
  endVideo();
  await pass(5_000);
  expect(calls).toEqual([]);
  await pass(12_000);
  expect(calls).toEqual(['reopened']);
});

test('[S-19] an ended show is live again when the service says so, also after failed checks', async () => {
  status = 'ENDED';
  watchReopening(readStatus, onReopened);
  await pass(100_000);
  expect(reads).toBeGreaterThanOrEqual(5);
  status = null;
  await pass(60_000);
  expect(calls).toEqual([]);
  status = 'STREAMING';
  await pass(20_000);
  expect(calls).toEqual(['reopened']);
  const before = reads;
  await pass(60_000);
  expect(reads).toBe(before);
});

test('[S-19] a page that has stopped calls nothing', async () => {
  status = 'ENDED';
  const stop = watchReopening(readStatus, onReopened);
  const { stop: stopEnd } = endVideo();
  stop();
  stopEnd();
  status = 'STREAMING';
  await pass(60_000);
  expect(calls).toEqual([]);
});
