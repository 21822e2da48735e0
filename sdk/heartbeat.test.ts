import { describe, expect, test } from 'bun:test';
import { FakeMachine, type FakeMachineOptions } from '../test/support/sdk/fake-environment.ts';
import { FourbeatError } from './errors.ts';
import { Heartbeat } from './heartbeat.ts';

interface Options extends FakeMachineOptions {
  /** Time until the response, or its error. */
  readonly responseMs?: number;
  readonly error?: () => FourbeatError | null;
  /** Each heartbeat waits for this promise before it is sent. */
  readonly token?: () => Promise<void>;
  readonly hiddenMs?: number;
}

/** Starts heartbeats. `sentMs` has their times, true ms since the start. */
function begin({
  responseMs = 0,
  error = () => null,
  token = async () => {},
  hiddenMs = Infinity,
  ...options
}: Options = {}) {
  const machine = new FakeMachine({ random: () => 0.25, ...options });
  const startMs = machine.nowMs;
  const sentMs: number[] = [];
  const heartbeat = new Heartbeat(
    machine.environment,
    async (onSend) => {
      await token();
      onSend();
      sentMs.push(Math.round(machine.nowMs - startMs));
      if (responseMs) await machine.wait(responseMs);
      const thrown = error();
      if (thrown) throw thrown;
    },
    hiddenMs,
  );
  heartbeat.start();
  return { machine, sentMs, heartbeat };
}

/** Starts heartbeats that wait for tokens from the test; responses take 1.5 s. */
function beginWithTokens() {
  const tokens: (() => void)[] = [];
  const token = () => new Promise<void>((resolve) => tokens.push(resolve));
  return { ...begin({ token, responseMs: 1_500 }), tokens };
}

function gaps(sentMs: readonly number[]): number[] {
  return sentMs.slice(1).map((ms, index) => ms - (sentMs[index] as number));
}

describe('[V-4] heartbeats are sent once a second', () => {
  test('from a random moment of the first second on', async () => {
    const { machine, sentMs } = begin();
    await machine.advance(3_300);
    expect(sentMs).toEqual([250, 1_250, 2_250, 3_250]);
  });

  test('without drift over ten minutes of slow responses', async () => {
    const { machine, sentMs } = begin({ responseMs: 700 });
    await machine.advance(600_000);
    expect(sentMs).toHaveLength(600);
    expect(sentMs.at(-1)).toBe(599_250);
  });

  test('also while the service is unavailable', async () => {
    const error = () => new FourbeatError('unavailable', 'gone');
    const { machine, sentMs } = begin({ error });
    await machine.advance(5_000);
    expect(sentMs).toHaveLength(5);
  });

  test('without a gap when each response takes almost 5 s', async () => {
    const { machine, sentMs } = begin({ responseMs: 4_900 });
    await machine.advance(60_000);
    expect(sentMs).toHaveLength(60);
  });

  test('a second after a heartbeat that waited for its token; those in between are skipped', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { machine, sentMs } = begin({ token: () => promise });
    await machine.advance(2_900);
    resolve();
    await machine.advance(2_050);
    expect(sentMs).toEqual([2_900, 3_900, 4_900]);
  });

  test('not without a token, which is requested again each second', async () => {
    let attempts = 0;
    const { machine, sentMs } = begin({
      token: async () => {
        attempts++;
        throw new FourbeatError('unavailable', 'no token');
      },
    });
    await machine.advance(3_000);
    expect([attempts, sentMs]).toEqual([3, []]);
  });

  test('once when the token arrives after the response to the previous one', async () => {
    const { machine, sentMs, tokens } = beginWithTokens();
    await machine.advance(250);
    tokens[0]?.();
    await machine.advance(1_000);
    expect([sentMs, tokens.length]).toEqual([[250], 2]);
    // The response to the first arrives while the second waits; no third one starts.
    await machine.advance(5_000);
    expect(tokens).toHaveLength(2);
    tokens[1]?.();
    await machine.settle();
    expect(sentMs).toEqual([250, 6_250]);
  });

  test('never after `stop`, also when a token arrives', async () => {
    const { machine, heartbeat, tokens } = beginWithTokens();
    await machine.advance(500);
    heartbeat.stop();
    tokens[0]?.();
    await machine.advance(10_000);
    expect(tokens).toHaveLength(1);
    expect(machine.pendingTimers).toBe(0);
  });

  test('until `stop`', async () => {
    const { machine, sentMs, heartbeat } = begin({ hasPage: true });
    await machine.advance(1_500);
    heartbeat.stop();
    await machine.setHidden(true);
    await machine.setHidden(false);
    await machine.advance(5_000);
    expect(sentMs).toHaveLength(2);
    expect(machine.pendingTimers).toBe(0);
  });
});

describe('[V-4] heartbeats missed during a sleep are skipped', () => {
  test.each([
    ['the monotonic clock runs on', true],
    ['the monotonic clock stands still', false],
  ])('when %s, and no two are within a second', async (_, doesMonotonicRun) => {
    const { machine, sentMs } = begin();
    for (const sleptMs of [300, 950, 1_049, 90_000, 3_600_000]) {
      await machine.advance(1_730);
      await machine.sleep(sleptMs, doesMonotonicRun);
    }
    await machine.advance(5_000);
    expect(Math.min(...gaps(sentMs))).toBeGreaterThanOrEqual(1_000);
    expect(sentMs.length).toBeGreaterThan(11);
  });

  test('and one that is due is sent at once afterwards', async () => {
    const { machine, sentMs } = begin();
    await machine.advance(500);
    await machine.sleep(60_000, true);
    expect(sentMs).toEqual([250, 60_500]);
    await machine.advance(1_000);
    expect(sentMs).toEqual([250, 60_500, 61_500]);
  });
});

describe('[G-27] heartbeats wait for the Retry-After of the service', () => {
  test('and then continue at their seconds', async () => {
    let isBusy = true;
    const busy = new FourbeatError('busy', 'too many', 429, 2_000);
    const { machine, sentMs } = begin({ error: () => (isBusy ? busy : null) });
    await machine.advance(1_000);
    isBusy = false;
    await machine.advance(3_500);
    expect(sentMs).toEqual([250, 2_250, 3_250, 4_250]);
  });
});

describe('a page that is hidden', () => {
  test('sends heartbeats without limit by default', async () => {
    const { machine, sentMs } = begin({ hasPage: true });
    await machine.setHidden(true);
    await machine.advance(3_600_000);
    expect(sentMs).toHaveLength(3_600);
  });

  test('sends heartbeats for as long as `hiddenMs` allows', async () => {
    const { machine, sentMs } = begin({ hasPage: true, hiddenMs: 5_000 });
    await machine.advance(1_000);
    await machine.setHidden(true);
    await machine.advance(60_000);
    expect(sentMs).toEqual([250, 1_250, 2_250, 3_250, 4_250, 5_250]);
    expect(machine.pendingTimers).toBe(0);
  });

  test('sends a heartbeat at once when it is visible again', async () => {
    const { machine, sentMs } = begin({ hasPage: true, hiddenMs: 5_000 });
    await machine.setHidden(true);
    await machine.advance(60_100);
    await machine.setHidden(false);
    await machine.advance(2_000);
    expect(sentMs.slice(-3)).toEqual([60_100, 61_100, 62_100]);
  });

  test('never sends two within a second, however often visibility changes', async () => {
    const { machine, sentMs } = begin({ hasPage: true, hiddenMs: 0 });
    for (let changes = 0; changes < 40; changes++) {
      await machine.setHidden(changes % 2 === 0);
      await machine.advance(130);
    }
    expect(Math.min(...gaps(sentMs))).toBeGreaterThanOrEqual(1_000);
    expect(sentMs.length).toBeGreaterThan(2);
  });

  test('never sends two within a second after a late heartbeat', async () => {
    const { machine, sentMs } = begin({ hasPage: true });
    await machine.advance(500);
    await machine.sleep(1_500, true);
    await machine.advance(300);
    await machine.setHidden(true);
    await machine.setHidden(false);
    await machine.advance(1_000);
    expect(sentMs).toEqual([250, 2_000, 3_000]);
  });

  test('sends none when it was opened hidden and `hiddenMs` is 0', async () => {
    const { machine, sentMs, heartbeat } = begin({ hasPage: true, hiddenMs: 0 });
    heartbeat.stop();
    await machine.setHidden(true);
    heartbeat.start();
    await machine.advance(10_000);
    expect(sentMs).toEqual([]);
    await machine.setHidden(false);
    await machine.advance(0);
    expect(sentMs).toHaveLength(1);
  });
});
