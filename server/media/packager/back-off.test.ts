import { describe, expect, test } from 'bun:test';
import { BackOff } from './back-off.ts';

describe('an encoder that ended', () => {
  test('[M-40] is started again at once, then later and later, 10 s at most', () => {
    const backOff = new BackOff();
    const waits: (number | null)[] = [];
    for (let i = 0, nowMs = 0; i < 8; i++, nowMs += 20_000) {
      backOff.started(nowMs);
      backOff.made(nowMs + 500);
      waits.push(backOff.exited(nowMs + 1_000));
    }
    expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  test('[M-40] after a minute in which it worked, is started again at once', () => {
    const backOff = new BackOff();
    for (let i = 0; i < 4; i++) {
      backOff.started(i * 1_000);
      backOff.made(i * 1_000 + 100);
      backOff.exited(i * 1_000 + 500);
    }
    backOff.started(10_000);
    backOff.made(69_000);
    expect(backOff.exited(70_000)).toBe(250);
  });

  test('[M-40] five times without having made anything, is not started again', () => {
    const backOff = new BackOff();
    const waits = Array.from({ length: 5 }, (_, i) => {
      backOff.started(i * 10_000);
      backOff.fed(i * 10_000 + 10);
      return backOff.exited(i * 10_000 + 20);
    });
    expect(waits).toEqual([250, 500, 1_000, 2_000, null]);
  });

  test('[M-40] that made something in between is started again', () => {
    const backOff = new BackOff();
    for (let i = 0; i < 20; i++) {
      backOff.started(i * 20_000);
      if (i % 4 === 3) backOff.made(i * 20_000 + 10);
      expect(backOff.exited(i * 20_000 + 20)).not.toBeNull();
    }
  });
});

describe('an encoder that runs', () => {
  /** A source that sends ten times a second from one time to another. */
  const feed = (backOff: BackOff, fromMs: number, toMs: number) => {
    for (let nowMs = fromMs; nowMs <= toMs; nowMs += 100) backOff.fed(nowMs);
  };

  test('[M-41] is stuck when the source flows and nothing came out for 10 s', () => {
    const backOff = new BackOff();
    backOff.started(0);
    feed(backOff, 0, 1_000);
    backOff.made(1_000);
    feed(backOff, 1_100, 11_000);
    expect(backOff.isStuck(11_000)).toBeFalse();
    feed(backOff, 11_100, 11_200);
    expect(backOff.isStuck(11_200)).toBeTrue();
    backOff.started(11_300);
    expect(backOff.isStuck(11_300)).toBeFalse();
  });

  test('[M-41] is not stuck while it makes fragments', () => {
    const backOff = new BackOff();
    backOff.started(0);
    for (let nowMs = 0; nowMs < 60_000; nowMs += 500) {
      feed(backOff, nowMs, nowMs + 400);
      backOff.made(nowMs + 450);
      expect(backOff.isStuck(nowMs + 450)).toBeFalse();
    }
  });

  test('[M-41] is not stuck when the source paused: that is not its fault', () => {
    const backOff = new BackOff();
    backOff.started(0);
    feed(backOff, 0, 1_000);
    backOff.made(1_000);
    expect(backOff.isStuck(25_000)).toBeFalse();
    feed(backOff, 25_000, 25_100);
    expect(backOff.isStuck(25_100)).toBeFalse();
    feed(backOff, 25_200, 35_000);
    expect(backOff.isStuck(35_000)).toBeTrue();
  });
});
