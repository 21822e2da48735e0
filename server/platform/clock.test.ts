import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CLUSTER_STEPS } from '../realtime/coordination/shared-clock.ts';
import {
  type ClockOptions,
  createClock,
  createSleepMeter,
  DOUBTED_LEAD_MS,
  DOUBTED_STEP_AFTER_MS,
  STEP_AFTER_MS,
  STEP_LEAD_MS,
} from './clock.ts';

const START_MS = 1_700_000_000_000;
const HOUR_MS = 3_600_000;
const SLEW_RATE = 0.01;

/** A service clock on a machine whose two clocks the test moves. */
function createMachine(options: Partial<ClockOptions> = {}) {
  const machine = { systemMs: START_MS, monotonicMs: 5_000, steps: [] as number[] };
  const clock = createClock({
    systemMs: () => machine.systemMs,
    monotonicMs: () => machine.monotonicMs,
    notBeforeMs: 0,
    onStep: (skippedMs) => machine.steps.push(skippedMs),
    ...options,
  });
  const pass = (ms: number) => {
    machine.systemMs += ms;
    machine.monotonicMs += ms;
  };
  /** Passes time with a reading every 250 ms, as the tick of the service does. */
  const run = (ms: number) => {
    for (let remainingMs = ms; remainingMs > 0; remainingMs -= 250) {
      pass(Math.min(250, remainingMs));
      clock.nowMs();
    }
  };
  return { machine, clock, pass, run };
}

describe('service time', () => {
  test('service time starts at the system time', () => {
    expect(createMachine().clock.nowMs()).toBe(START_MS);
  });

  test('[K-6] service time never starts before the end of the last sealed interval', () => {
    const { clock, pass } = createMachine({ notBeforeMs: START_MS + 700 });
    expect(clock.nowMs()).toBe(START_MS + 700);
    expect(clock.offsetMs()).toBe(700);
    pass(1_000);
    expect(clock.nowMs()).toBe(START_MS + 700 + 990);
  });

  test('service time starts at the system time when that is later than the last sealed interval', () => {
    expect(createMachine({ notBeforeMs: START_MS - 9 }).clock.nowMs()).toBe(START_MS);
  });

  test('service time runs with the system clock as long as nothing disturbs it', () => {
    const { clock, run, machine } = createMachine();
    run(HOUR_MS);
    expect(clock.nowMs()).toBe(machine.systemMs);
    expect(clock.offsetMs()).toBe(0);
  });

  test('service time is a whole number of milliseconds, rounded down', () => {
    const { clock, pass } = createMachine();
    pass(0.9);
    expect(clock.nowMs()).toBe(START_MS);
    pass(0.2);
    expect(clock.nowMs()).toBe(START_MS + 1);
  });

  test('[K-5] service time loses no correction when it is read a million times a second', () => {
    const { machine, clock } = createMachine();
    machine.systemMs += 100;
    for (let reading = 0; reading < 1_000_000; reading += 1) {
      machine.systemMs += 2 ** -10;
      machine.monotonicMs += 2 ** -10;
      clock.nowMs();
    }
    const elapsedMs = 1_000_000 / 2 ** 10;
    expect(clock.nowMs()).toBe(Math.floor(START_MS + elapsedMs * (1 + SLEW_RATE)));
  });

  test('[K-4] service time stands still when the monotonic source goes back', () => {
    const { machine, clock } = createMachine();
    clock.nowMs();
    machine.monotonicMs -= 400;
    expect(clock.nowMs()).toBe(START_MS);
    machine.monotonicMs += 400;
    expect(clock.nowMs()).toBe(START_MS);
  });
});

describe('a step of the system clock', () => {
  test('[K-5] a step of the system clock back by an hour is only slewed, for as long as it takes', () => {
    const { machine, clock, run } = createMachine();
    machine.systemMs -= HOUR_MS;
    expect(clock.nowMs()).toBe(START_MS);
    run(10 * HOUR_MS);
    expect(clock.nowMs()).toBe(START_MS + 10 * HOUR_MS * (1 - SLEW_RATE));
    expect(clock.offsetMs()).toBe(HOUR_MS - 10 * HOUR_MS * SLEW_RATE);
    run(90 * HOUR_MS);
    expect(clock.offsetMs()).toBe(0);
    expect(machine.steps).toEqual([]);
  });

  test('[K-5] a step of the system clock forward by an hour and back again is only slewed', () => {
    const { machine, clock, run } = createMachine();
    machine.systemMs += HOUR_MS;
    run(STEP_AFTER_MS - 1_000);
    expect(clock.nowMs()).toBe(START_MS + (STEP_AFTER_MS - 1_000) * (1 + SLEW_RATE));
    machine.systemMs -= HOUR_MS;
    run(STEP_AFTER_MS * 2);
    expect(clock.offsetMs()).toBe(0);
    expect(machine.steps).toEqual([]);
  });

  test('[K-5] a step of the system clock forward by an hour that lasts, as after a sleep, is followed by one step', () => {
    const { machine, clock, run } = createMachine();
    machine.systemMs += HOUR_MS;
    run(STEP_AFTER_MS);
    expect(clock.offsetMs()).toBeLessThan(-HOUR_MS + 1_000);
    run(250);
    expect(clock.offsetMs()).toBe(0);
    run(HOUR_MS);
    expect(clock.offsetMs()).toBe(0);
    expect(machine.steps).toHaveLength(1);
    expect(machine.steps[0]).toBeCloseTo(HOUR_MS - (STEP_AFTER_MS + 250) * SLEW_RATE, 3);
  });

  test('[K-5] a step of the system clock forward by 10 s or less is only slewed', () => {
    const { machine, clock, run } = createMachine();
    machine.systemMs += STEP_LEAD_MS;
    run(STEP_AFTER_MS * 3);
    expect(clock.offsetMs()).toBe(-STEP_LEAD_MS + STEP_AFTER_MS * 3 * SLEW_RATE);
    expect(machine.steps).toEqual([]);
  });

  test('[K-5] a step of the system clock is not followed while the system clock is still being set', () => {
    const { machine, run } = createMachine();
    for (let set = 0; set < 5; set += 1) {
      machine.systemMs += HOUR_MS;
      run(STEP_AFTER_MS - 1_000);
    }
    expect(machine.steps).toEqual([]);
    run(2_000);
    expect(machine.steps).toHaveLength(1);
  });

  test('[K-5] a step of the system clock is not followed after only two readings far apart', () => {
    const { machine, clock, pass } = createMachine();
    machine.systemMs += HOUR_MS;
    clock.nowMs();
    pass(10 * STEP_AFTER_MS);
    clock.nowMs();
    expect(machine.steps).toEqual([]);
  });
});

describe('a doubted lead of the system clock', () => {
  test('[K-5] a doubted lead of 2 h for four minutes has no effect, and is reported once', () => {
    const doubts: number[] = [];
    const options = { sleptMs: () => 0, onDoubt: (ms: number) => doubts.push(ms) };
    const { machine, clock, run } = createMachine(options);
    machine.systemMs += 2 * HOUR_MS;
    run(4 * 60_000);
    machine.systemMs -= 2 * HOUR_MS;
    run(4 * 60_000);
    expect([clock.offsetMs(), machine.steps, doubts.length]).toEqual([0, [], 1]);
    expect(doubts[0]).toBeCloseTo(2 * HOUR_MS - STEP_AFTER_MS * SLEW_RATE, -1);
  });

  test('[K-5] a doubted lead is followed after five minutes, one of up to a minute after 30 s', () => {
    for (const [leadMs, afterMs] of [
      [2 * HOUR_MS, DOUBTED_STEP_AFTER_MS],
      [DOUBTED_LEAD_MS, STEP_AFTER_MS],
    ] as const) {
      const { machine, run } = createMachine({ sleptMs: () => 0 });
      machine.systemMs += leadMs;
      run(afterMs);
      expect(machine.steps).toEqual([]);
      run(250);
      expect(machine.steps).toHaveLength(1);
    }
  });

  test('[K-5] a lead is not doubted when the machine slept so long, and is doubted the next time', () => {
    let sleptMs = 0;
    const { machine, run } = createMachine({ sleptMs: () => sleptMs });
    sleptMs += HOUR_MS;
    machine.systemMs += HOUR_MS;
    run(STEP_AFTER_MS + 250);
    expect(machine.steps).toHaveLength(1);
    machine.systemMs += HOUR_MS;
    run(STEP_AFTER_MS * 2);
    expect(machine.steps).toHaveLength(1);
  });

  test('a sleep is what the uptime gains on the monotonic clock', () => {
    let [uptimeMs, monotonicMs] = [90_000, 5_000];
    const sleptMs = createSleepMeter(
      () => uptimeMs,
      () => monotonicMs,
    );
    uptimeMs += 1_000;
    monotonicMs += 1_000;
    expect(sleptMs()).toBe(0);
    uptimeMs += HOUR_MS;
    expect(sleptMs()).toBe(HOUR_MS);
  });
});

describe('the service time of other nodes', () => {
  test('[N-8] the service time of other nodes is the start of service time when it is ahead of the clock of Redis', () => {
    const { clock } = createMachine({ leadMs: () => 5_000, notBeforeMs: START_MS + 4_000 });
    expect(clock.nowMs()).toBe(START_MS + 5_000);
    expect(clock.offsetMs()).toBe(5_000);
  });

  test('[N-8] the service time of other nodes causes a step when it is over 100 ms ahead for 2 s, as the clock of Redis does', () => {
    for (const isRedis of [false, true]) {
      let leadMs = 0;
      const { machine, clock, run } = createMachine({ leadMs: () => leadMs, ...CLUSTER_STEPS });
      if (isRedis) machine.systemMs += 1_500;
      else leadMs += 1_500;
      run(2_000);
      expect(machine.steps).toEqual([]);
      run(250);
      expect(machine.steps).toHaveLength(1);
      expect(clock.nowMs()).toBe(machine.systemMs + leadMs);
    }
  });

  test('[N-8] [K-5] service time is only slewed to that of other nodes when it leads by less than 100 ms or for less than 2 s', () => {
    let leadMs = 0;
    const { machine, clock, run } = createMachine({ leadMs: () => leadMs, ...CLUSTER_STEPS });
    leadMs = 99;
    run(5_000);
    expect(clock.offsetMs()).toBe(5_000 * SLEW_RATE);
    leadMs = 5_000;
    run(1_000);
    leadMs = 60;
    run(5_000);
    expect(clock.offsetMs()).toBe(60);
    expect(machine.steps).toEqual([]);
  });
});

/** Events of the machine between two readings. */
const events = fc.array(
  fc.oneof(
    // Time passes `readings` times, on a system clock that drifts by up to 0.5 %.
    fc.record({
      kind: fc.constant('run' as const),
      ms: fc.double({ min: 0, max: 2_000, noNaN: true }),
      drift: fc.double({ min: -0.005, max: 0.005, noNaN: true }),
      readings: fc.integer({ min: 1, max: 60 }),
    }),
    fc.record({
      kind: fc.constant('step' as const),
      ms: fc.integer({ min: -2 * HOUR_MS, max: 2 * HOUR_MS }),
    }),
    // The machine sleeps: the monotonic source stands still.
    fc.record({ kind: fc.constant('sleep' as const), ms: fc.integer({ min: 0, max: HOUR_MS }) }),
    // The process stalls: time passes without a reading.
    fc.record({ kind: fc.constant('stall' as const), ms: fc.integer({ min: 0, max: 60_000 }) }),
  ),
  { maxLength: 40, size: 'max' },
);

describe('with any behavior of the system clock', () => {
  test('[K-4] [K-5] service time never goes back and keeps its pace, except for due steps', () => {
    fc.assert(
      fc.property(events, fc.integer({ min: -HOUR_MS, max: HOUR_MS }), (list, sealedMs) => {
        const { machine, clock } = createMachine({ notBeforeMs: START_MS + sealedMs });
        let lastMs = clock.nowMs();
        expect(lastMs).toBe(START_MS + Math.max(0, sealedMs));
        let leadDurationMs = 0;
        for (const event of list) {
          for (
            let reading = 0;
            reading < ('readings' in event ? event.readings : 1);
            reading += 1
          ) {
            const elapsedMs = event.kind === 'run' || event.kind === 'stall' ? event.ms : 0;
            machine.monotonicMs += elapsedMs;
            machine.systemMs += event.ms * ('drift' in event ? 1 + event.drift : 1);
            leadDurationMs += elapsedMs;
            const stepCount = machine.steps.length;
            const nowMs = clock.nowMs();
            expect(Number.isInteger(nowMs)).toBe(true);
            expect(nowMs).toBeGreaterThanOrEqual(lastMs);
            // Each reading is rounded down, so the difference of two is good to 1 ms.
            expect(nowMs - lastMs).toBeGreaterThan(elapsedMs * (1 - SLEW_RATE) - 1.01);
            if (machine.steps.length > stepCount) {
              expect(leadDurationMs).toBeGreaterThanOrEqual(STEP_AFTER_MS);
              expect(Math.abs(nowMs - machine.systemMs)).toBeLessThan(1.01);
            } else {
              expect(nowMs - lastMs).toBeLessThan(elapsedMs * (1 + SLEW_RATE) + 1.01);
            }
            if (machine.systemMs - nowMs <= STEP_LEAD_MS) leadDurationMs = 0;
            lastMs = nowMs;
          }
        }
      }),
    );
  });

  test('[K-5] service time returns to the system time once that runs normally again', () => {
    fc.assert(
      fc.property(fc.integer({ min: -2 * HOUR_MS, max: 2 * HOUR_MS }), (stepMs) => {
        const { machine, clock, pass, run } = createMachine();
        machine.systemMs += stepMs;
        run(STEP_AFTER_MS + 250);
        pass(Math.abs(stepMs) / SLEW_RATE);
        clock.nowMs();
        expect(Math.abs(clock.offsetMs())).toBeLessThanOrEqual(1);
        expect(machine.steps.length).toBeLessThanOrEqual(stepMs > STEP_LEAD_MS ? 1 : 0);
      }),
      { numRuns: 200 },
    );
  });
});
