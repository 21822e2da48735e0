import { afterEach, beforeEach, expect, jest, test } from 'bun:test';
import Hls from 'hls.js';
import { FakeHls } from '../../test/support/player/pages/fake-hls.ts';
import { type MendedHls, mend } from './hls-mending.ts';

const { ErrorDetails, ErrorTypes, Events } = Hls;
const MISSING = {
  ...{ fatal: true, type: ErrorTypes.NETWORK_ERROR, response: { code: 404 } },
  details: ErrorDetails.MANIFEST_LOAD_ERROR,
};
const CUT_OFF = {
  ...{ fatal: true, type: ErrorTypes.NETWORK_ERROR },
  details: ErrorDetails.FRAG_LOAD_ERROR,
};
const UNDECODABLE = {
  ...{ fatal: true, type: ErrorTypes.MEDIA_ERROR },
  details: ErrorDetails.BUFFER_APPEND_ERROR,
};

let hls: FakeHls;
let told: string[];
let mayCome: boolean;
let stop: () => void;

beforeEach(() => {
  jest.useFakeTimers();
  hls = new FakeHls();
  told = [];
  mayCome = true;
  stop = mend(hls as unknown as MendedHls, '/show/master.m3u8', {
    onAbsent: () => told.push('absent'),
    onBroken: () => told.push('broken'),
    mayCome: () => mayCome,
  });
});
afterEach(() => {
  jest.useRealTimers();
});

/** Fails again at each try. @returns when the tries were, ms */
function failFor(durationMs: number, error: typeof CUT_OFF, before = () => {}): number[] {
  const triesMs: number[] = [];
  hls.fail(error);
  for (let passedMs = 0; passedMs < durationMs; passedMs += 100) {
    if (hls.calls.length > 0) triesMs.push(passedMs);
    if (hls.calls.splice(0).length > 0) {
      before();
      hls.fail(error);
    }
    jest.advanceTimersByTime(100);
  }
  return triesMs;
}

const gapsOf = (triesMs: readonly number[]) =>
  triesMs.slice(1).map((at, index) => at - (triesMs[index] ?? 0));

test('a picture that is long in coming is asked for less and less, and not in step', () => {
  const tries = failFor(600_000, MISSING);
  const late = gapsOf(tries.slice(5));
  expect(tries[0]).toBeWithin(1_000, 2_101);
  expect(Math.min(...late)).toBeGreaterThanOrEqual(7_500);
  expect(Math.max(...late)).toBeLessThanOrEqual(15_200);
  expect(new Set(late).size).toBeGreaterThan(10);
  expect(new Set(told)).toEqual(new Set(['absent']));
});

test('one that is over and not there is not asked for again', () => {
  mayCome = false;
  expect(failFor(60_000, MISSING)).toEqual([]);
});

test('one that was cut off goes on where it was, and soon again after it worked', () => {
  mayCome = false;
  hls.levels = [{}];
  hls.fail(CUT_OFF);
  jest.advanceTimersByTime(2_000);
  expect([told, hls.calls]).toEqual([['broken'], ['startLoad']]);
  failFor(60_000, CUT_OFF);
  hls.tell(Events.FRAG_BUFFERED, {});
  hls.fail(CUT_OFF);
  jest.advanceTimersByTime(2_000);
  expect(hls.calls).toEqual(['startLoad']);
});

test('one that still has something to show is not called broken', () => {
  const media = { paused: false, readyState: 4 };
  hls.levels = [{}];
  hls.media = media;
  hls.fail(CUT_OFF);
  expect(told).toEqual([]);
  media.readyState = 2;
  hls.fail(CUT_OFF);
  media.readyState = 4;
  hls.fail(UNDECODABLE);
  expect(told).toEqual(['broken', 'broken']);
});

test('one that cannot be decoded is set up anew at once, and then less and less often', () => {
  hls.fail(UNDECODABLE);
  expect(hls.calls).toEqual(['recoverMediaError']);
  hls.calls.length = 0;
  const buffer = () => hls.tell(Events.FRAG_BUFFERED, {});
  const tries = failFor(60_000, UNDECODABLE, buffer);
  expect(tries.length).toBeWithin(4, 20);
});

test('many failures at once are one try, and none after the end', () => {
  hls.levels = [{}];
  hls.fail(CUT_OFF);
  hls.fail(CUT_OFF);
  jest.advanceTimersByTime(60_000);
  expect(hls.calls).toEqual(['startLoad']);
  hls.fail(CUT_OFF);
  stop();
  jest.advanceTimersByTime(60_000);
  expect(hls.calls).toEqual(['startLoad']);
});
