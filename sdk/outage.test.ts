import { afterEach, describe, expect, test } from 'bun:test';
import { createJoinFixture, leaveAll } from '../test/support/sdk/join-fixture.ts';

afterEach(leaveAll);

describe('rejected tokens', () => {
  /** @returns time from the rejection to the token request, ms, of a viewer with this random number */
  async function renewalDelayMs(random: number, outageMs: number): Promise<number> {
    const fixture = createJoinFixture({ random: () => random });
    const viewer = fixture.join();
    await fixture.machine.advance(2_000);
    const endFault = outageMs ? fixture.service.fail({ result: 503 }) : () => {};
    await fixture.machine.advance(outageMs);
    fixture.service.rejectTokens();
    endFault();
    fixture.requests.length = 0;
    const startMs = fixture.machine.nowMs;
    while (!fixture.requests.some((request) => request.endsWith('/token')))
      await fixture.machine.advance(50);
    const delayMs = fixture.machine.nowMs - startMs;
    await fixture.machine.advance(5_000);
    expect(viewer.state).toBe('live');
    return delayMs;
  }

  test('are renewed at once without an outage', async () => {
    expect(await renewalDelayMs(0.1, 0)).toBeLessThan(1_000);
    expect(await renewalDelayMs(0.9, 0)).toBeLessThan(1_000);
  });

  test('are renewed over 2 s after an outage, which affects all viewers', async () => {
    expect(await renewalDelayMs(0.1, 3_000)).toBeLessThan(1_500);
    const lateMs = await renewalDelayMs(0.9, 3_000);
    expect(lateMs).toBeGreaterThan(1_800);
    expect(lateMs).toBeLessThan(4_000);
  });

  test('are renewed at once again, long after an outage', async () => {
    const fixture = createJoinFixture({ random: () => 0.9 });
    fixture.join();
    await fixture.machine.advance(2_000);
    const endFault = fixture.service.fail({ result: 503 });
    await fixture.machine.advance(3_000);
    endFault();
    await fixture.machine.advance(60_000);
    fixture.service.rejectTokens();
    fixture.requests.length = 0;
    await fixture.machine.advance(1_000);
    expect(fixture.requests.filter((request) => request.endsWith('/token'))).toHaveLength(1);
  });
});
