import { randomBytes } from 'node:crypto';

/** What the server takes from its process: clocks, timers and randomness. */
export interface Runtime {
  /** The system clock in Unix ms; it may be set at any time. */
  readonly systemMs: () => number;
  /** A clock in ms that only runs forward; its zero does not matter. */
  readonly monotonicMs: () => number;
  /** A number from 0 (inclusive) to 1 (exclusive), not for secrets. */
  readonly random: () => number;
  /** Cryptographically secure. */
  readonly randomBytes: (count: number) => Buffer;
  /** A random UUID. */
  readonly newId: () => string;
  readonly sleep: (ms: number) => Promise<void>;
  readonly setTimeout: (run: () => void, delayMs: number) => Timer;
  readonly setInterval: (run: () => void, periodMs: number) => Timer;
  readonly setImmediate: (run: () => void) => void;
  /** Stops a timer of `setTimeout` or `setInterval`. */
  readonly clearTimer: (timer: Timer | null | undefined) => void;
  /** A signal that aborts after this time. */
  readonly timeoutSignal: (ms: number) => AbortSignal;
}

/** The runtime of this process. */
export const SYSTEM_RUNTIME: Runtime = {
  systemMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  randomBytes: (count) => randomBytes(count),
  newId: () => crypto.randomUUID(),
  sleep: (ms) => Bun.sleep(ms),
  setTimeout: (run, delayMs) => setTimeout(run, delayMs),
  setInterval: (run, periodMs) => setInterval(run, periodMs),
  setImmediate: (run) => {
    setImmediate(run);
  },
  clearTimer: (timer) => {
    if (timer) clearTimeout(timer);
  },
  timeoutSignal: (ms) => AbortSignal.timeout(ms),
};

/** The current runtime. A simulation replaces it. */
export let runtime: Runtime = SYSTEM_RUNTIME;

/** Replaces the runtime; for the simulation, which runs the machines of several nodes in one process. */
export function replaceRuntime(replacement: Runtime): void {
  runtime = replacement;
}
