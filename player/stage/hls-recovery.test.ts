import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import Hls from 'hls.js';
import { FakeHls } from '../../test/support/player/pages/fake-hls.ts';
import { type RecoverableHls, recoverFromErrors } from './hls-recovery.ts';

const { ErrorDetails, ErrorTypes, Events } = Hls;
const MISSING = {
  ...{ fatal: true, type: ErrorTypes.NETWORK_ERROR, response: { code: 404 } },
  details: ErrorDetails.MANIFEST_LOAD_ERROR,
};
const DISCONNECTED = {
  ...{ fatal: true, type: ErrorTypes.NETWORK_ERROR },
  details: ErrorDetails.FRAG_LOAD_ERROR,
};
const UNDECODABLE = {
  ...{ fatal: true, type: ErrorTypes.MEDIA_ERROR },
  details: ErrorDetails.BUFFER_APPEND_ERROR,
};

let hls: FakeHls;
let reports: string[];
let retriesMissing: boolean;
let stop: () => void;

beforeEach(() => {
  jest.useFakeTimers();
  hls = new FakeHls();
  reports = [];
  retriesMissing = true;
  stop = recoverFromErrors(hls as unknown as RecoverableHls, '/show/master.m3u8', {
    onMissing: () => reports.push('missing'),
    onInterrupted: () => reports.push('interrupted'),
    retriesMissing: () => retriesMissing,
  });
});
afterEach(() => {
  jest.useRealTimers();
});

/** Makes hls.js and all its retries fail for this time. @returns the times of the retries, ms */
function failFor(
  durationMs: number,
  error: typeof DISCONNECTED,
  beforeFailure = () => {},
): number[] {
  const retriesMs: number[] = [];
  hls.fail(error);
  for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs += 100) {
    if (hls.calls.length > 0) retriesMs.push(elapsedMs);
    if (hls.calls.splice(0).length > 0) {
      beforeFailure();
      hls.fail(error);
    }
    jest.advanceTimersByTime(100);
  }
  return retriesMs;
}

const delaysBetween = (timesMs: readonly number[]) =>
  timesMs.slice(1).map((timeMs, index) => timeMs - (timesMs[index] ?? 0));

test('a missing stream is retried with increasing, random delays', () => {
  const retries = failFor(600_000, MISSING);
  const lateDelays = delaysBetween(retries.slice(5));
  expect(retries[0]).toBeWithin(1_000, 2_101);
  expect(Math.min(...lateDelays)).toBeGreaterThanOrEqual(7_500);
  expect(Math.max(...lateDelays)).toBeLessThanOrEqual(15_200);
  expect(new Set(lateDelays).size).toBeGreaterThan(10);
  expect(new Set(reports)).toEqual(new Set(['missing']));
});

test('a missing stream of a show that is over is not retried', () => {
  retriesMissing = false;
  expect(failFor(60_000, MISSING)).toEqual([]);
});

test('an interrupted stream continues where it was, and soon again after a success', () => {
  retriesMissing = false;
  hls.levels = [{}];
  hls.fail(DISCONNECTED);
  jest.advanceTimersByTime(2_000);
  expect([reports, hls.calls]).toEqual([['interrupted'], ['startLoad']]);
  failFor(60_000, DISCONNECTED);
  hls.emit(Events.FRAG_BUFFERED, {});
  hls.fail(DISCONNECTED);
  jest.advanceTimersByTime(2_000);
  expect(hls.calls).toEqual(['startLoad']);
});

test('a stream is not reported as interrupted while it has buffered video', () => {
  const media = { paused: false, readyState: 4 };
  hls.levels = [{}];
  hls.media = media;
  hls.fail(DISCONNECTED);
  expect(reports).toEqual([]);
  media.readyState = 2;
  hls.fail(DISCONNECTED);
  media.readyState = 4;
  hls.fail(UNDECODABLE);
  expect(reports).toEqual(['interrupted', 'interrupted']);
});

test('an undecodable stream is recovered at once, then with increasing delays', () => {
  hls.fail(UNDECODABLE);
  expect(hls.calls).toEqual(['recoverMediaError']);
  hls.calls.length = 0;
  const bufferSegment = () => hls.emit(Events.FRAG_BUFFERED, {});
  const retries = failFor(60_000, UNDECODABLE, bufferSegment);
  expect(retries.length).toBeWithin(4, 20);
});

test('simultaneous failures are retried once, and none is retried after the stop', () => {
  hls.levels = [{}];
  hls.fail(DISCONNECTED);
  hls.fail(DISCONNECTED);
  jest.advanceTimersByTime(60_000);
  expect(hls.calls).toEqual(['startLoad']);
  hls.fail(DISCONNECTED);
  stop();
  jest.advanceTimersByTime(60_000);
  expect(hls.calls).toEqual(['startLoad']);
});
