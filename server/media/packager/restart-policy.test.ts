import { describe, expect, test } from 'bun:test';
import { RestartPolicy } from './restart-policy.ts';

describe('encoder that exited', () => {
  test('[M-40] the restart delay doubles from 250 ms to 10 s', () => {
    const policy = new RestartPolicy();
    const delaysMs: (number | null)[] = [];
    for (let i = 0, nowMs = 0; i < 8; i++, nowMs += 20_000) {
      policy.onStart(nowMs);
      policy.onOutput(nowMs + 500);
      delaysMs.push(policy.onExit(nowMs + 1_000));
    }
    expect(delaysMs).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
  });

  test('[M-40] the restart delay is reset after a minute of output', () => {
    const policy = new RestartPolicy();
    for (let i = 0; i < 4; i++) {
      policy.onStart(i * 1_000);
      policy.onOutput(i * 1_000 + 100);
      policy.onExit(i * 1_000 + 500);
    }
    policy.onStart(10_000);
    policy.onOutput(69_000);
    expect(policy.onExit(70_000)).toBe(250);
  });

  test('[M-40] an encoder is not restarted after five exits without output', () => {
    const policy = new RestartPolicy();
    const delaysMs = Array.from({ length: 5 }, (_, i) => {
      policy.onStart(i * 10_000);
      policy.onInput(i * 10_000 + 10);
      return policy.onExit(i * 10_000 + 20);
    });
    expect(delaysMs).toEqual([250, 500, 1_000, 2_000, null]);
  });

  test('[M-40] output between exits resets the failure count', () => {
    const policy = new RestartPolicy();
    for (let i = 0; i < 20; i++) {
      policy.onStart(i * 20_000);
      if (i % 4 === 3) policy.onOutput(i * 20_000 + 10);
      expect(policy.onExit(i * 20_000 + 20)).not.toBeNull();
    }
  });
});

describe('running encoder', () => {
  /** Input ten times a second. */
  const feed = (policy: RestartPolicy, fromMs: number, toMs: number) => {
    for (let nowMs = fromMs; nowMs <= toMs; nowMs += 100) policy.onInput(nowMs);
  };

  test('[M-41] an encoder is stuck after 10 s of input without output', () => {
    const policy = new RestartPolicy();
    policy.onStart(0);
    feed(policy, 0, 1_000);
    policy.onOutput(1_000);
    feed(policy, 1_100, 11_000);
    expect(policy.isStuck(11_000)).toBeFalse();
    feed(policy, 11_100, 11_200);
    expect(policy.isStuck(11_200)).toBeTrue();
    policy.onStart(11_300);
    expect(policy.isStuck(11_300)).toBeFalse();
  });

  test('[M-41] an encoder with output is not stuck', () => {
    const policy = new RestartPolicy();
    policy.onStart(0);
    for (let nowMs = 0; nowMs < 60_000; nowMs += 500) {
      feed(policy, nowMs, nowMs + 400);
      policy.onOutput(nowMs + 450);
      expect(policy.isStuck(nowMs + 450)).toBeFalse();
    }
  });

  test('[M-41] a pause of the source does not count as stuck', () => {
    const policy = new RestartPolicy();
    policy.onStart(0);
    feed(policy, 0, 1_000);
    policy.onOutput(1_000);
    expect(policy.isStuck(25_000)).toBeFalse();
    feed(policy, 25_000, 25_100);
    expect(policy.isStuck(25_100)).toBeFalse();
    feed(policy, 25_200, 35_000);
    expect(policy.isStuck(35_000)).toBeTrue();
  });
});
