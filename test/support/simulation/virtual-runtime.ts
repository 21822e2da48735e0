import type { Runtime } from '../../../server/platform/runtime.ts';

export interface VirtualRuntimeOptions {
  readonly random: () => number;
  readonly systemMs: () => number;
  readonly monotonicMs: () => number;
  /** @param periodMs null: the timer fires once. @returns a function that stops it */
  readonly startTimer: (run: () => void, delayMs: number, periodMs: number | null) => () => void;
}

const HEX = '0123456789abcdef';

/** The runtime of one machine: its clocks, timers and randomness. */
export function createVirtualRuntime(options: VirtualRuntimeOptions): Runtime {
  const { random, systemMs, monotonicMs, startTimer } = options;
  const start = (run: () => void, delayMs: number, periodMs: number | null) =>
    new VirtualTimer(startTimer(run, delayMs, periodMs)) as unknown as Timer;
  // Like those of the process, timers count whole milliseconds, at least one.
  const setTimeout = (run: () => void, delayMs: number) =>
    start(run, Math.max(1, Math.trunc(delayMs)), null);
  return {
    ...{ random, systemMs, monotonicMs, setTimeout },
    randomBytes: (count) => Buffer.from(Array.from({ length: count }, () => random() * 256)),
    newId: () => newId(random),
    sleep: (ms) =>
      new Promise((resolve) => {
        setTimeout(resolve, ms);
      }),
    setInterval: (run, periodMs) => start(run, periodMs, periodMs),
    setImmediate: (run) => {
      startTimer(run, 0, null);
    },
    clearTimer: (timer) => (timer as VirtualTimer | null | undefined)?.stop(),
    timeoutSignal: (ms) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), ms);
      return controller.signal;
    },
  };
}

function outside(): never {
  throw new Error('code of a node runs outside of its machine');
}

/** The runtime while no machine runs. */
export const NO_MACHINE: Runtime = {
  ...{ systemMs: outside, monotonicMs: outside, random: outside, randomBytes: outside },
  ...{ newId: outside, sleep: outside, setTimeout: outside, setInterval: outside },
  ...{ setImmediate: outside, timeoutSignal: outside },
  clearTimer: (timer) => (timer as VirtualTimer | null | undefined)?.stop(),
};

class VirtualTimer {
  constructor(readonly stop: () => void) {}

  unref(): this {
    return this;
  }
}

/** A UUID of version 4. */
function newId(random: () => number): string {
  const digits = Array.from({ length: 32 }, () => HEX[Math.floor(random() * 16)]);
  digits[12] = '4';
  digits[16] = HEX[8 + Math.floor(random() * 4)];
  const text = digits.join('');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => text.slice(from, to))
    .join('-');
}
