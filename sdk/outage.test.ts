import { afterEach, describe, expect, test } from 'bun:test';
import { leaveAll, world } from '../test/support/sdk/join-fixture.ts';

afterEach(leaveAll);

describe('tokens that are refused', () => {
  /** @returns how many ms after the refusal a new one was asked for, by one viewer whose chance is this */
  async function askedAfterMs(chance: number, outageMs: number): Promise<number> {
    const it = world({ random: () => chance });
    const viewer = it.join();
    await it.machine.advance(2_000);
    const mend = outageMs ? it.service.fail({ how: 503 }) : () => {};
    await it.machine.advance(outageMs);
    it.service.refuseTokens();
    mend();
    it.requests.length = 0;
    const fromMs = it.machine.nowMs;
    while (!it.requests.some((one) => one.endsWith('/token'))) await it.machine.advance(50);
    const askedMs = it.machine.nowMs - fromMs;
    await it.machine.advance(5_000);
    expect(viewer.state).toBe('live');
    return askedMs;
  }

  test('are renewed at once, where nothing else went wrong', async () => {
    expect(await askedAfterMs(0.1, 0)).toBeLessThan(1_000);
    expect(await askedAfterMs(0.9, 0)).toBeLessThan(1_000);
  });

  test('after an outage are renewed over 2 s, as those of all viewers are refused', async () => {
    expect(await askedAfterMs(0.1, 3_000)).toBeLessThan(1_500);
    const lateMs = await askedAfterMs(0.9, 3_000);
    expect(lateMs).toBeGreaterThan(1_800);
    expect(lateMs).toBeLessThan(4_000);
  });

  test('long after an outage are renewed at once again', async () => {
    const it = world({ random: () => 0.9 });
    it.join();
    await it.machine.advance(2_000);
    const mend = it.service.fail({ how: 503 });
    await it.machine.advance(3_000);
    mend();
    await it.machine.advance(60_000);
    it.service.refuseTokens();
    it.requests.length = 0;
    await it.machine.advance(1_000);
    expect(it.requests.filter((one) => one.endsWith('/token'))).toHaveLength(1);
  });
});
