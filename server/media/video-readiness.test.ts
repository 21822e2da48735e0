import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { recordingLogger } from '../../test/support/media/segment-store-fixture.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../platform/runtime.ts';
import { VideoReadiness } from './video-readiness.ts';

/** Virtual time: the timers of `runtime` run when the test advances it. */
let nowMs = 0;
let timers: { dueMs: number; run: () => void }[] = [];

beforeEach(() => {
  nowMs = 0;
  timers = [];
  replaceRuntime({
    ...SYSTEM_RUNTIME,
    monotonicMs: () => nowMs,
    setTimeout: (run, delayMs) => {
      const timer = { dueMs: nowMs + delayMs, run };
      timers.push(timer);
      return timer as unknown as Timer;
    },
    clearTimer: (cleared) => {
      timers = timers.filter((timer) => timer !== (cleared as unknown));
    },
  });
});
afterEach(() => replaceRuntime(SYSTEM_RUNTIME));

async function advance(ms: number): Promise<void> {
  nowMs += ms;
  const due = timers.filter(({ dueMs }) => dueMs <= nowMs);
  timers = timers.filter(({ dueMs }) => dueMs > nowMs);
  for (const { run } of due) run();
  await settle();
}

/** Lets promises that need no input or output settle. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Readiness of a service whose ffmpeg fails until the test sets its problem to null. */
function createFixture() {
  const { logger, lines } = recordingLogger();
  const state = {
    ...{ problem: 'no ffmpeg' as string | null, checks: 0, checkEnd: Promise.resolve() },
    ...{ arePortsFree: true, portAttempts: 0 },
  };
  const readiness = new VideoReadiness({
    checkFfmpeg: async () => {
      state.checks++;
      await state.checkEnd;
      return state.problem;
    },
    openPorts: async () => {
      state.portAttempts++;
      return state.arePortsFree;
    },
    logger,
  });
  return Object.assign(state, { readiness, messages: () => lines.map(({ msg }) => msg) });
}

describe('readiness of video', () => {
  test('[M-44] ffmpeg that fails is checked every 30 s until it works, with one log line each for failure and repair', async () => {
    const fixture = createFixture();
    await fixture.readiness.start();
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect([fixture.checks, fixture.portAttempts]).toEqual([attempt, 0]);
      await advance(29_999);
      expect(fixture.checks).toBe(attempt);
      await advance(1);
    }
    expect(fixture.messages()).toEqual(['no ffmpeg; everything except video works']);
    fixture.problem = null;
    await advance(30_000);
    expect([fixture.checks, fixture.portAttempts]).toEqual([7, 1]);
    expect(fixture.messages().slice(1)).toEqual(['video is available again']);
    expect(await fixture.readiness.isReady()).toBe(true);
    await advance(300_000);
    expect([fixture.checks, timers.length]).toEqual([7, 0]);
  });

  test('[M-44] a check that throws is a failure and is repeated', async () => {
    const fixture = createFixture();
    fixture.checkEnd = Promise.reject(new Error('spawn ENOMEM'));
    await fixture.readiness.start();
    expect(fixture.messages()).toEqual([
      'ffmpeg could not be checked: spawn ENOMEM; everything except video works',
    ]);
    fixture.checkEnd = Promise.resolve();
    fixture.problem = null;
    await advance(30_000);
    expect(await fixture.readiness.isReady()).toBe(true);
  });

  test('[M-44] ports that are not open are tried every 30 s without another check of ffmpeg', async () => {
    const fixture = createFixture();
    Object.assign(fixture, { problem: null, arePortsFree: false });
    await fixture.readiness.start();
    await advance(30_000);
    expect([fixture.checks, fixture.portAttempts]).toEqual([1, 2]);
    fixture.arePortsFree = true;
    await advance(30_000);
    await advance(30_000);
    expect([fixture.checks, fixture.portAttempts, timers.length]).toEqual([1, 3, 0]);
    expect(fixture.messages()).toEqual([]);
  });

  test('[M-44] a source causes a check 5 s after the last one, and is accepted when ffmpeg works', async () => {
    const fixture = createFixture();
    await fixture.readiness.start();
    fixture.problem = null;
    await advance(4_999);
    expect(await fixture.readiness.isReady()).toBe(false);
    expect(fixture.checks).toBe(1);
    await advance(1);
    expect(await fixture.readiness.isReady()).toBe(true);
    await settle();
    expect([fixture.checks, fixture.portAttempts, timers.length]).toEqual([2, 1, 0]);
  });

  test('[M-44] sources and the timer share one check, and sources wait for it for 8 s', async () => {
    const fixture = createFixture();
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.checkEnd = promise;
    const started = fixture.readiness.start();
    const early = [fixture.readiness.isReady(), fixture.readiness.isReady()];
    await advance(8_000);
    expect(await Promise.all(early)).toEqual([false, false]);
    const later = fixture.readiness.isReady();
    fixture.problem = null;
    resolve();
    await started;
    expect(await later).toBe(true);
    expect(fixture.checks).toBe(1);
  });

  test('[M-44] a readiness that is stopped checks nothing more, also when its check ends later', async () => {
    const waiting = createFixture();
    await waiting.readiness.start();
    waiting.readiness.stop();
    const checking = createFixture();
    const { promise, resolve } = Promise.withResolvers<void>();
    checking.checkEnd = promise;
    const started = checking.readiness.start();
    checking.readiness.stop();
    resolve();
    await started;
    expect(timers).toEqual([]);
    await advance(30_000);
    expect(await waiting.readiness.isReady()).toBe(false);
    expect([waiting.checks, checking.checks]).toEqual([1, 1]);
  });
});
