import { describe, expect, test } from 'bun:test';
import { begin, unavailable } from '../test/support/sdk/clock-fixture.ts';

describe('[K-2] it never goes back', () => {
  test('when a better sample finds it ahead: it runs at half its pace until it is right', async () => {
    const { machine, clock, offMs } = begin([
      { thereMs: 0, backMs: 400 },
      { thereMs: 1, backMs: 1 },
    ]);
    clock.start();
    await machine.advance(400);
    expect(offMs()).toBeCloseTo(-199.5, 0);
    const early = begin([
      { thereMs: 400, backMs: 0 },
      { thereMs: 1, backMs: 1 },
    ]);
    early.clock.start();
    await early.machine.advance(651);
    expect(early.offMs()).toBeCloseTo(200.5, 0);
    let lastMs = early.clock.nowMs();
    for (let steps = 0; steps < 100; steps++) {
      await early.machine.advance(10);
      const nowMs = early.clock.nowMs();
      expect(nowMs - lastMs).toBeGreaterThan(4.9);
      expect(Math.abs(early.offMs())).toBeLessThan(early.clock.errorMs + 0.01);
      lastMs = nowMs;
    }
    expect(Math.abs(early.offMs())).toBeLessThan(1);
  });

  test('when the system’s clock is set', async () => {
    const { machine, clock, offMs } = begin();
    clock.start();
    await machine.advance(2_000);
    for (const systemErrorMs of [-86_400_000, 3_600_000, 0]) {
      machine.systemErrorMs = systemErrorMs;
      expect(Math.abs(offMs())).toBeLessThan(1);
      await machine.advance(10_000);
      expect(Math.abs(offMs())).toBeLessThan(1);
    }
  });
});

describe('[K-2] after a sleep it is set at once', () => {
  test('on a machine whose monotonic clock stood still, and tells meanwhile that it may be off', async () => {
    const { machine, clock, asked, offMs } = begin();
    clock.start();
    await machine.advance(10_000);
    expect(asked).toHaveLength(4);
    await machine.sleep(3_600_000);
    expect(offMs()).toBeCloseTo(-3_600_000, -1);
    expect(clock.errorMs).toBeGreaterThan(3_599_000);
    await machine.advance(1_100);
    expect(Math.abs(offMs())).toBeLessThan(1);
    await machine.advance(2_000);
    expect(clock.errorMs).toBeLessThan(12);
    expect(asked).toHaveLength(8);
  });

  test('on a machine whose monotonic clock ran on', async () => {
    const { machine, clock, asked } = begin();
    clock.start();
    await machine.advance(10_000);
    await machine.sleep(20_000, true);
    await machine.advance(2_000);
    expect(asked).toHaveLength(8);
  });

  test('also when it slept while a sample was on its way, which then means nothing', async () => {
    const { machine, clock, offMs } = begin([{ thereMs: 10, backMs: 100 }]);
    clock.start();
    await machine.advance(50);
    await machine.sleep(3_600_000);
    await machine.advance(60);
    expect(clock.errorMs).toBe(Infinity);
    await machine.advance(1_000);
    expect(Math.abs(offMs())).toBeLessThan(100);
  });

  test('and a moment of nothing is no sleep, but many of them are', async () => {
    const { machine, clock, asked, offMs } = begin();
    clock.start();
    await machine.advance(10_000);
    await machine.sleep(450);
    await machine.advance(10_000);
    expect(asked).toHaveLength(4);
    for (let naps = 0; naps < 20; naps++) {
      await machine.sleep(450);
      await machine.advance(2_000);
      expect(Math.abs(offMs())).toBeLessThan(501);
    }
    expect(clock.errorMs).toBeLessThan(501);
  });
});

describe('[F-7] when the service finds it off', () => {
  test('it is set at once', async () => {
    const { machine, clock, asked, service, offMs } = begin();
    clock.start();
    await machine.advance(10_000);
    service.errorMs = 3_000;
    clock.look();
    await machine.advance(20);
    expect(asked).toHaveLength(5);
    expect(Math.abs(offMs())).toBeLessThan(1);
  });

  test('again and again, it is set each few seconds', async () => {
    const { machine, clock, asked } = begin();
    clock.start();
    await machine.advance(10_000);
    for (let looks = 0; looks < 200; looks++) {
      clock.look();
      await machine.advance(50);
    }
    expect(asked.length).toBeLessThanOrEqual(4 + 2 * 4);
  });

  test('while it is being set, or cannot be, nothing more is asked', async () => {
    const { machine, clock, asked } = begin([unavailable]);
    clock.start();
    await machine.advance(3_000);
    const before = asked.length;
    clock.look();
    await machine.advance(10);
    expect(asked).toHaveLength(before);
  });
});
