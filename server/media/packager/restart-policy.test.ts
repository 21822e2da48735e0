import { describe, expect, test } from 'bun:test';
import { RestartPolicy } from './restart-policy.ts';

describe('an encoder that ended', () => {
  test('[M-40] is started again at once, then later and later, 10 s at most', () => {
    const backOff = new RestartPolicy();
    const waits: (number | null)[] = [];
    for (let i = 0, nowMs = 0; i < 8; i++, nowMs += 20_000) {
      backOff.onStart(nowMs);
      backOff.onOutput(nowMs + 500);
      waits.push(backOff.onExit(nowMs + 1_000));
    }
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  test('[M-40] after a minute in which it worked, is started again at once', () => {
    const backOff = new RestartPolicy();
    for (let i = 0; i < 4; i++) {
      backOff.onStart(i * 1_000);
      backOff.onOutput(i * 1_000 + 100);
      backOff.onExit(i * 1_000 + 500);
    }
    backOff.onStart(10_000);
    backOff.onOutput(69_000);
    expect(backOff.onExit(70_000)).toBe(250);
  });

  test('[M-40] five times without having made anything, is not started again', () => {
    const backOff = new RestartPolicy();
    const waits = Array.from({ length: 5 }, (_, i) => {
      backOff.onStart(i * 10_000);
      backOff.onInput(i * 10_000 + 10);
      return backOff.onExit(i * 10_000 + 20);
    });
    expect(waits).toEqual([250, 500, 1_000, 2_000, null]);
  });

  test('[M-40] that made something in between is started again', () => {
    const backOff = new RestartPolicy();
    for (let i = 0; i < 20; i++) {
      backOff.onStart(i * 20_000);
      if (i % 4 === 3) backOff.onOutput(i * 20_000 + 10);
      expect(backOff.onExit(i * 20_000 + 20)).not.toBeNull();
    }
  });
});

describe('an encoder that runs', () => {
  /** A source that sends ten times a second from one time to another. */
  const feed = (backOff: RestartPolicy, fromMs: number, toMs: number) => {
    for (let nowMs = fromMs; nowMs <= toMs; nowMs += 100) backOff.onInput(nowMs);
  };

  test('[M-41] is stuck when the source flows and nothing came out for 10 s', () => {
    const backOff = new RestartPolicy();
    backOff.onStart(0);
    feed(backOff, 0, 1_000);
    backOff.onOutput(1_000);
    feed(backOff, 1_100, 11_000);
    expect(backOff.isStuck(11_000)).toBeFalse();
    feed(backOff, 11_100, 11_200);
    expect(backOff.isStuck(11_200)).toBeTrue();
    backOff.onStart(11_300);
    expect(backOff.isStuck(11_300)).toBeFalse();
  });

  test('[M-41] is not stuck while it makes fragments', () => {
    const backOff = new RestartPolicy();
    backOff.onStart(0);
    for (let nowMs = 0; nowMs < 60_000; nowMs += 500) {
      feed(backOff, nowMs, nowMs + 400);
      backOff.onOutput(nowMs + 450);
      expect(backOff.isStuck(nowMs + 450)).toBeFalse();
    }
  });

  test('[M-41] is not stuck when the source paused: that is not its fault', () => {
    const backOff = new RestartPolicy();
    backOff.onStart(0);
    feed(backOff, 0, 1_000);
    backOff.onOutput(1_000);
    expect(backOff.isStuck(25_000)).toBeFalse();
    feed(backOff, 25_000, 25_100);
    expect(backOff.isStuck(25_100)).toBeFalse();
    feed(backOff, 25_200, 35_000);
    expect(backOff.isStuck(35_000)).toBeTrue();
  });
});
