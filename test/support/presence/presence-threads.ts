import {
  AHEAD_INTERVALS,
  CELL_WORDS,
  LIVE_INTERVALS,
  type SeatMemory,
} from '../../../server/realtime/presence/presence-ring.ts';
import { SharedPresenceWriter } from '../../../server/realtime/presence/shared-presence-writer.ts';

// A thread that registers as fast as it can, for tests of shared rings.

/** The work of a thread. */
export interface SeatWork {
  readonly memory: SeatMemory;
  /** Shared by all threads: the current command, and the current interval minus `firstInterval`. */
  readonly control: Int32Array;
  readonly firstInterval: number;
  /** Of this thread: its state and results. */
  readonly status: Int32Array;
  /** By seat: the newest interval in which it certainly counts, or may count; plus 1. */
  readonly certain: Int32Array;
  readonly possible: Int32Array;
  /** Seed of the order of seats. */
  readonly seed: number;
}

/** Words of `control`. */
export const COMMAND = 0;
export const NOW = 1;

export const REST = 0; // Command: wait for the next one.
/** Command: register random seats repeatedly. */
export const ANY = 1;
/** Command: register one seat after the other from 0 on, and publish how far. */
export const ONE_BY_ONE = 2;
export const END = 3;

/** Words of `status`. `ACTIVE` is the command that the thread executes now. */
export const ACTIVE = 0;
export const REACHED = 1;
/** Number of seats that were registered and not present. */
export const LOST = 2;

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<SeatWork>) => {
  const { control, status } = data;
  const writer = new SharedPresenceWriter(data.memory);
  for (;;) {
    const command = Atomics.load(control, COMMAND);
    Atomics.store(status, ACTIVE, command);
    if (command === END) return;
    if (command === REST) Atomics.wait(control, COMMAND, REST, 100);
    else if (command === ANY) registerAny(writer, data);
    else registerOneByOne(writer, data);
  }
};

function registerAny(writer: SharedPresenceWriter, work: SeatWork): void {
  const { control, firstInterval, status, certain, possible, seed } = work;
  let random = seed;
  while (Atomics.load(control, COMMAND) === ANY) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0;
    const seat = (random >>> 8) % certain.length;
    const now = Atomics.load(control, NOW);
    if (!writer.register(seat, firstInterval + now)) continue;
    const later = Atomics.load(control, NOW);
    // The interval may have changed during the call: it may count in any of these. After a long
    // suspension its slot may belong to another interval.
    const latest = later - now < LIVE_INTERVALS ? later : later + AHEAD_INTERVALS;
    certain[seat] = now + 1;
    possible[seat] = Math.max(possible[seat] as number, latest + 1);
    if (isLost(work, seat, now, later)) Atomics.add(status, LOST, 1);
  }
}

/** Whether a seat of the first chunk is missing although it registered between two intervals. */
function isLost({ control, memory }: SeatWork, seat: number, from: number, to: number): boolean {
  const cells = memory.chunks[0] as Int32Array;
  for (;;) {
    // When the interval has changed again, the ring has finished advancing.
    const isDone = Atomics.load(control, NOW) > to;
    if (Atomics.load(cells, (seat >>> 5) * CELL_WORDS) & (1 << (seat & 31))) return false;
    if (Atomics.load(control, NOW) >= from + LIVE_INTERVALS) return false;
    if (isDone) return true;
    if (Atomics.load(control, COMMAND) !== ANY) return false;
  }
}

function registerOneByOne(
  writer: SharedPresenceWriter,
  { control, firstInterval, status, certain }: SeatWork,
): void {
  for (let seat = 0; seat < certain.length; seat += 1) {
    writer.register(seat, firstInterval + Atomics.load(control, NOW));
    Atomics.store(status, REACHED, seat + 1);
  }
  while (Atomics.load(control, COMMAND) === ONE_BY_ONE)
    Atomics.wait(control, COMMAND, ONE_BY_ONE, 100);
}
