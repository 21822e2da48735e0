import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Timeline } from './timeline.ts';

const SERVICE_MS = 1_795_000_000_000;
const FRAME_MS = 1_000 / 15;
const FRAMES_IN_SEGMENT = 15;

/** A simulated source with a clock, a network delay and a timeline. */
class Source {
  readonly timeline = new Timeline();
  private readonly pendingStarts: number[] = [];
  private frame = 0;
  /** When the source's clock was last set: source time and service time. */
  private clockSet: { sourceMs: number; serviceMs: number };
  private newestMs: number;

  constructor(
    startMs: number,
    private readonly rate: number,
    private readonly jitterMs: () => number,
  ) {
    this.newestMs = startMs;
    this.clockSet = { sourceMs: startMs, serviceMs: SERVICE_MS };
  }

  /** Service time at which a frame was recorded. */
  truthMs(sourceMs: number): number {
    return this.clockSet.serviceMs + (sourceMs - this.clockSet.sourceMs) * this.rate;
  }

  /** Sends a frame. @returns the segment starts that the encoder has emitted by now */
  send(): number[] {
    const sourceMs = this.newestMs;
    this.timeline.observe(sourceMs, this.truthMs(sourceMs) + this.jitterMs());
    if (this.frame++ % FRAMES_IN_SEGMENT === 0) this.pendingStarts.push(sourceMs);
    this.newestMs += FRAME_MS;
    // The encoder emits a frame a second later.
    return this.pendingStarts.length > 1 ? this.pendingStarts.splice(0, 1) : [];
  }

  sendFor(ms: number): void {
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += FRAME_MS) {
      for (const startMs of this.send()) this.timeline.advance(startMs);
    }
  }

  /** Above 0, the source's clock jumps ahead; below 0, the source pauses and its clock stops. */
  jump(byMs: number): void {
    const atMs = this.truthMs(this.newestMs);
    if (byMs > 0) this.newestMs += byMs;
    this.clockSet = { sourceMs: this.newestMs, serviceMs: atMs - Math.min(byMs, 0) };
    this.pendingStarts.length = 0;
  }

  /** Error of the timeline, ms. */
  errorMs(): number {
    const { newestMs } = this;
    return newestMs + this.timeline.offsetFor(newestMs) - this.truthMs(newestMs);
  }
}

/** A deterministic random number generator. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

describe('offset', () => {
  test('[M-12] the offset is accurate to 30 ms over two hours of jitter and drift', () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.integer(),
          ppm: fc.integer({ min: -100, max: 100 }),
          delayMs: fc.integer({ min: 0, max: 100 }),
          jitterMs: fc.integer({ min: 0, max: 300 }),
          startMs: fc.integer({ min: -1_000, max: 10 ** 9 }),
        }),
        ({ seed, ppm, delayMs, jitterMs, startMs }) => {
          const nextRandom = random(seed);
          let minDelayMs = Number.POSITIVE_INFINITY;
          const source = new Source(startMs, 1 + ppm / 1_000_000, () => {
            const ms = delayMs + nextRandom() * jitterMs;
            minDelayMs = Math.min(minDelayMs, ms);
            return ms;
          });
          let offsetMs: number | null = null;
          let initialMinDelayMs = 0;
          let mappedMs = Number.NEGATIVE_INFINITY;
          for (let frame = 0; frame < 15 * 7_200; frame++) {
            for (const atMs of source.send()) {
              const newOffsetMs = source.timeline.advance(atMs);
              if (offsetMs === null) initialMinDelayMs = minDelayMs;
              else if (Math.abs(newOffsetMs - offsetMs) > 1) throw new Error('a step is too large');
              offsetMs = newOffsetMs;
              for (let i = 0; i < FRAMES_IN_SEGMENT; i++) {
                const sourceMs = atMs + i * FRAME_MS;
                const ms = sourceMs + source.timeline.offsetFor(sourceMs);
                if (ms < mappedMs) throw new Error('time goes back');
                mappedMs = ms;
                const errorMs = ms - source.truthMs(sourceMs);
                const maxErrorMs = 30 + Math.max(initialMinDelayMs, delayMs);
                if (errorMs < -30 || errorMs > maxErrorMs) throw new Error(`off by ${errorMs} ms`);
              }
            }
          }
          expect(source.timeline.needsNewEpoch()).toBe(false);
          // By now the jitter is filtered out, except for the minimum delay.
          expect(Math.abs(source.errorMs() - delayMs)).toBeLessThan(15);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('[M-12] a burst at the start does not count as delay', () => {
    const timeline = new Timeline();
    for (let ms = 0; ms <= 2_000; ms += 40) timeline.observe(ms, SERVICE_MS + 2_000);
    expect(timeline.advance(0)).toBe(SERVICE_MS);
    for (let ms = 2_040; ms <= 60_000; ms += 40) {
      timeline.observe(ms, SERVICE_MS + ms + 100);
      if (ms % 1_000 === 0) expect(timeline.advance(ms)).toBe(SERVICE_MS);
    }
  });

  test('the offset changes freely before the first segment, then by 1 ms a segment', () => {
    const timeline = new Timeline();
    timeline.observe(0, 5_800);
    expect(timeline.offsetFor(0)).toBe(5_800);
    timeline.observe(40, 5_140);
    expect(timeline.offsetFor(0)).toBe(5_100);
    expect(timeline.advance(0)).toBe(5_100);
    timeline.observe(80, 5_080);
    expect(timeline.offsetFor(80)).toBe(5_100);
    expect([1_000, 2_000, 3_000].map((ms) => timeline.advance(ms))).toEqual([5_099, 5_098, 5_097]);
  });

  test('the offset of segments shorter than a second changes by 0.1 % at most', () => {
    const timeline = new Timeline();
    timeline.observe(0, 500);
    timeline.advance(0);
    timeline.observe(40, 440);
    const offsets = [500, 1_000, 1_500, 2_000].map((ms) => timeline.advance(ms));
    expect(offsets).toEqual([500, 499, 499, 498]);
  });

  test('[M-11] the offset depends on the source time alone', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -40, max: 40 }), { maxLength: 60 }), (delays) => {
        const timeline = new Timeline();
        timeline.observe(0, 0);
        const offsets = [timeline.advance(0)];
        for (const [i, delayMs] of delays.entries()) {
          const startMs = (i + 1) * 1_000;
          timeline.observe(startMs, startMs + delayMs);
          offsets.push(timeline.advance(startMs));
          expect(timeline.advance(startMs)).toBe(offsets.at(-1) as number);
          expect(timeline.advance(startMs - 500)).toBe(offsets.at(-2) as number);
        }
        for (const [i, offsetMs] of offsets.entries()) {
          for (const ms of [0, 1, 999]) expect(timeline.offsetFor(i * 1_000 + ms)).toBe(offsetMs);
        }
        expect(timeline.offsetFor(-20)).toBe(offsets[0] as number);
      }),
    );
  });

  test('the offset follows a changed delay within about two minutes', () => {
    let delayMs = 20;
    const source = new Source(0, 1, () => delayMs);
    source.sendFor(10_000);
    expect(source.errorMs()).toBe(20);
    for (delayMs of [70, 10]) {
      source.sendFor(125_000);
      expect(Math.abs(source.errorMs() - delayMs)).toBeLessThanOrEqual(2);
      expect(source.timeline.needsNewEpoch()).toBe(false);
    }
  });

  test('the offset without an observation is an error', () => {
    const timeline = new Timeline();
    timeline.observe(Number.NaN, 0);
    expect(() => timeline.advance(0)).toThrow('no source time was observed yet');
    expect(() => timeline.offsetFor(0)).toThrow('no source time was observed yet');
    timeline.observe(10, 20);
    expect(timeline.advance(0)).toBe(10);
  });
});

describe('changed clock', () => {
  for (const [change, byMs, afterS] of [
    ['jumped ahead', 3_600_000, 5],
    ['jumped by two seconds', 2_000, 5],
    ['was paused and resumed', -10_000, 20],
  ] as const) {
    test(`[M-40] a source that ${change} needs a new epoch after ${afterS} s`, () => {
      const nextRandom = random(byMs);
      const source = new Source(0, 1, () => nextRandom() * 100);
      source.sendFor(20_000);
      const before = source.timeline.offsetFor(20_000);
      source.jump(byMs);
      source.sendFor(afterS * 1_000 - 100);
      expect(source.timeline.needsNewEpoch()).toBe(false);
      source.sendFor(1_500);
      expect(source.timeline.needsNewEpoch()).toBe(true);
      // Fragments from before the change keep their offset.
      expect(Math.abs(source.timeline.offsetFor(20_000) - before)).toBeLessThanOrEqual(1);
      source.timeline.reset();
      expect(source.timeline.needsNewEpoch()).toBe(false);
      source.sendFor(3_000);
      expect(Math.abs(source.errorMs())).toBeLessThan(30);
      source.sendFor(20_000);
      expect(source.timeline.needsNewEpoch()).toBe(false);
    });
  }

  for (const periodS of [12, 30, 90]) {
    test(`[M-12] network lag that swings to 1.5 s and back every ${periodS} s keeps the offset`, () => {
      let sentMs = 0;
      const lagMs = () => 750 * (1 - Math.cos((2 * Math.PI * sentMs) / 1_000 / periodS));
      const source = new Source(0, 1, () => lagMs());
      let offsetMs: number | null = null;
      for (; sentMs < 600_000; sentMs += FRAME_MS) {
        for (const atMs of source.send()) {
          const newOffsetMs = source.timeline.advance(atMs);
          expect(Math.abs(newOffsetMs - (offsetMs ?? newOffsetMs))).toBeLessThanOrEqual(1);
          offsetMs = newOffsetMs;
        }
        if (source.timeline.needsNewEpoch()) throw new Error(`a new epoch after ${sentMs} ms`);
        if (Math.abs(source.errorMs()) > 30) throw new Error(`off by ${source.errorMs()} ms`);
      }
    });
  }

  test('[M-12] a clock that jumps under network lag needs a new epoch when its frames are early', () => {
    let sentMs = 0;
    const source = new Source(0, 1, () => (Math.floor(sentMs / 8_000) % 2) * 1_500);
    const sendFor = (ms: number) => {
      for (const endMs = sentMs + ms; sentMs < endMs; sentMs += 100) source.sendFor(100);
    };
    sendFor(40_000);
    expect(source.timeline.needsNewEpoch()).toBe(false);
    source.jump(4_000);
    sendFor(6_000);
    expect(source.timeline.needsNewEpoch()).toBe(true);
  });

  test('[M-40] a source that stays 1.5 s late for a minute needs a new epoch', () => {
    const source = new Source(0, 1, () => 20);
    source.sendFor(20_000);
    source.jump(-1_500);
    source.sendFor(59_000);
    expect(source.timeline.needsNewEpoch()).toBe(false);
    source.sendFor(2_000);
    expect(source.timeline.needsNewEpoch()).toBe(true);
  });

  test('a source that stalls and catches up needs no new epoch', () => {
    const source = new Source(0, 1, () => 20);
    source.sendFor(20_000);
    for (let lagMs = 8_000; lagMs > 0; lagMs -= 100) {
      // Eight seconds of data arrive within a second.
      source.timeline.observe(28_000 - lagMs, SERVICE_MS + 28_000 + (8_000 - lagMs) / 8);
      expect(source.timeline.needsNewEpoch()).toBe(false);
    }
    expect(source.timeline.offsetFor(28_000)).toBe(SERVICE_MS + 20);
  });

  test('occasional or two-sided outliers need no new epoch', () => {
    const timeline = new Timeline();
    timeline.observe(0, 0);
    timeline.advance(0);
    const observeWithError = (fromMs: number, newOffsetMs: number, byMs: number) => {
      for (let ms = fromMs; ms < newOffsetMs; ms += 100) timeline.observe(ms, ms + byMs);
      expect(timeline.needsNewEpoch()).toBe(false);
    };
    observeWithError(1_000, 5_000, 3_000);
    timeline.observe(5_000, 5_000);
    observeWithError(5_100, 9_000, 3_000);
    observeWithError(9_000, 13_000, -3_000);
    timeline.observe(13_000, 13_000);
    // A pause of a minute is no evidence.
    timeline.observe(14_000, 17_000);
    timeline.observe(74_000, 77_000);
    observeWithError(74_000, 75_000, 3_000);
  });

  test('a clock that restarts from 0 is followed after reset', () => {
    const timeline = new Timeline();
    for (let ms = 60_000; ms < 70_000; ms += 100) timeline.observe(ms, ms);
    timeline.advance(60_000);
    for (let ms = 0; ms < 21_000; ms += 100) timeline.observe(ms, 70_000 + ms);
    expect(timeline.needsNewEpoch()).toBe(true);
    timeline.reset();
    expect(timeline.advance(1_000)).toBe(70_000);
    timeline.observe(21_000, 90_900);
    expect(timeline.advance(2_000)).toBe(69_999);
    expect(timeline.offsetFor(1_999)).toBe(70_000);
  });

  test('a single wrong timestamp does not change the offset', () => {
    const source = new Source(0, 1, () => 20);
    source.sendFor(20_000);
    for (const wrongMs of [20_000 + 2 ** 33 / 90, 27_000, 0, -5_000]) {
      source.timeline.observe(wrongMs, SERVICE_MS + 20_000);
    }
    source.sendFor(20_000);
    expect(source.timeline.needsNewEpoch()).toBe(false);
    expect(source.errorMs()).toBe(20);
  });

  test('reset without a changed clock keeps the observations', () => {
    const timeline = new Timeline();
    timeline.observe(0, 1_000);
    timeline.advance(0);
    timeline.observe(100, 1_090);
    timeline.reset();
    expect(timeline.advance(5_000)).toBe(990);
  });
});

test('[M-12] timestamps of an encoder that starts after a wrap are unwrapped', () => {
  const wrapMs = 2 ** 33 / 90;
  const timeline = new Timeline(wrapMs);
  const startMs = wrapMs - 5_000;
  for (let ms = 0; ms <= 10_000; ms += 40) timeline.observe(startMs + ms, SERVICE_MS + ms);
  const offsetMs = SERVICE_MS - startMs;
  expect(timeline.advance(startMs)).toBe(Math.round(offsetMs));
  expect(timeline.offsetFor(wrapMs + 4_000)).toBe(Math.round(offsetMs));
  expect(Math.abs(4_000 + timeline.offsetFor(4_000) - (SERVICE_MS + 9_000))).toBeLessThanOrEqual(1);
  expect(Math.abs(5_000 + timeline.advance(5_000) - (SERVICE_MS + 10_000))).toBeLessThanOrEqual(1);
});
