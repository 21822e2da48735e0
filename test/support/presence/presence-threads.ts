import {
  AHEAD_INTERVALS,
  CELL_WORDS,
  LIVE_INTERVALS,
  type SeatMemory,
} from '../../../server/realtime/presence/presence-cells.ts';
import { SharedPresenceWriter } from '../../../server/realtime/presence/shared-presence-writer.ts';

// A thread that registers as fast as it can, for tests of rings that threads share.

/** What a thread is to do. */
export interface SeatWork {
  readonly memory: SeatMemory;
  /** Shared by all: what to do now, and the interval that it is, from `firstInterval` on. */
  readonly told: Int32Array;
  readonly firstInterval: number;
  /** Of this thread alone: what it is doing, or has done. */
  readonly doing: Int32Array;
  /** By seat, plus 1: the newest interval that it surely counts in, and that it may count in. */
  readonly surely: Int32Array;
  readonly perhaps: Int32Array;
  /** Chosen with it. */
  readonly seed: number;
}

/** Words of `told`. */
export const ORDER = 0;
export const NOW = 1;

export const REST = 0;
/** Register any seats, again and again. */
export const ANY = 1;
/** Register one seat after the other, from 0 on, and say how far. */
export const ONE_BY_ONE = 2;
export const END = 3;

/** Words of `doing`. */
export const OBEYS = 0;
export const REACHED = 1;
/** How many seats were not present although they had registered. */
export const LOST = 2;

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<SeatWork>) => {
  const { told, doing } = data;
  const marks = new SharedPresenceWriter(data.memory);
  for (;;) {
    const order = Atomics.load(told, ORDER);
    Atomics.store(doing, OBEYS, order);
    if (order === END) return;
    if (order === REST) Atomics.wait(told, ORDER, REST, 100);
    else if (order === ANY) registerAny(marks, data);
    else registerInTurn(marks, data);
  }
};

function registerAny(marks: SharedPresenceWriter, work: SeatWork): void {
  const { told, firstInterval, doing, surely, perhaps, seed } = work;
  let random = seed;
  while (Atomics.load(told, ORDER) === ANY) {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) | 0;
    const seat = (random >>> 8) % surely.length;
    const now = Atomics.load(told, NOW);
    if (!marks.register(seat, firstInterval + now)) continue;
    const later = Atomics.load(told, NOW);
    // Time went on meanwhile, so it may count in any of these. A call that stood still may have found
    // its slot to be of another interval.
    const latest = later - now < LIVE_INTERVALS ? later : later + AHEAD_INTERVALS;
    surely[seat] = now + 1;
    perhaps[seat] = Math.max(perhaps[seat] as number, latest + 1);
    if (isLost(work, seat, now, later)) Atomics.add(doing, LOST, 1);
  }
}

/** Whether a seat of the first chunk is not present although it registered when it was this interval. */
function isLost({ told, memory }: SeatWork, seat: number, from: number, to: number): boolean {
  const cells = memory.chunks[0] as Int32Array;
  for (;;) {
    // When time has gone on, the ring's thread is done with what it did meanwhile.
    const isDone = Atomics.load(told, NOW) > to;
    if (Atomics.load(cells, (seat >>> 5) * CELL_WORDS) & (1 << (seat & 31))) return false;
    if (Atomics.load(told, NOW) >= from + LIVE_INTERVALS) return false;
    if (isDone) return true;
    if (Atomics.load(told, ORDER) !== ANY) return false;
  }
}

function registerInTurn(
  marks: SharedPresenceWriter,
  { told, firstInterval, doing, surely }: SeatWork,
): void {
  for (let seat = 0; seat < surely.length; seat += 1) {
    marks.register(seat, firstInterval + Atomics.load(told, NOW));
    Atomics.store(doing, REACHED, seat + 1);
  }
  while (Atomics.load(told, ORDER) === ONE_BY_ONE) Atomics.wait(told, ORDER, ONE_BY_ONE, 100);
}
