import { afterEach, expect, test } from 'bun:test';
import {
  ACTIVE,
  ANY,
  COMMAND,
  END,
  LOST,
  NOW,
  ONE_BY_ONE,
  REACHED,
  REST,
  type SeatWork,
} from '../../../test/support/presence/presence-threads.ts';
import { AHEAD_INTERVALS, LIVE_INTERVALS, PENDING, PresenceRing, TOTAL } from './presence-ring.ts';
import { SharedPresenceWriter } from './shared-presence-writer.ts';

const FIRST = 6_800_000_000;
const THREADS = 2;
const BURSTS = 100;
const STEPS = 1_000;

let threads: { work: SeatWork; worker: Worker }[] = [];

afterEach(() => {
  for (const { worker, work } of threads) {
    Atomics.store(work.control, COMMAND, END);
    worker.terminate();
  }
  threads = [];
});

test('[I-5] a ring counts seats that other threads register while it advances, as a model does', async () => {
  // The ring advances so fast that seats often expire while they register again.
  const seats = 256;
  const { ring, command } = startThreads(seats);
  let now = 0;
  for (let burst = 0; burst < BURSTS; burst += 1) {
    await command(ANY);
    for (let step = 0; step < STEPS; step += 1) {
      now += 1;
      command.now(now);
      ring.count(FIRST + now);
      pause(step % 50 === 0 ? 50_000 : 1_500);
    }
    await command(REST);
    const inSlots = new Set<number>();
    for (let past = now - 4; past <= now + AHEAD_INTERVALS; past += 1) {
      for (const seat of seatsIn(ring, FIRST + past)) inSlots.add(seat);
    }
    expect(ring.count(FIRST + now)).toBe(inSlots.size);
    const { certain, possible } = presentAt(now, seats);
    const violations = Array.from({ length: seats }, (_, seat) => seat).filter((seat) => {
      const isPresent = ring.isPresent(seat, FIRST + now);
      const isAllowed = isPresent ? possible.has(seat) : !certain.has(seat);
      return isPresent !== inSlots.has(seat) || !isAllowed;
    });
    expect(violations).toEqual([]);
  }
  expect(threads.map(({ work }) => work.status[LOST])).toEqual([0, 0]);
  expect(ring.count(FIRST + now + LIVE_INTERVALS + AHEAD_INTERVALS)).toBe(0);
}, 20_000);

test('[V-6] a ring counts each seat whose registration returned, also when two threads register it', async () => {
  for (let round = 0; round < 20; round += 1) {
    const seats = 4_000;
    const { ring, command } = startThreads(seats);
    void command(ONE_BY_ONE);
    let reached = 0;
    while (reached < seats) {
      reached = Math.max(...threads.map(({ work }) => Atomics.load(work.status, REACHED)));
      expect(ring.count(FIRST)).toBeGreaterThanOrEqual(reached);
    }
    await command(END);
    expect(ring.count(FIRST)).toBe(seats);
    for (const { worker } of threads) worker.terminate();
    threads = [];
  }
}, 20_000);

test('[V-6] a ring counts a seat that a suspended thread made present and did not count', () => {
  const { ring, writer } = sharedRing();
  const { control, chunks } = ring.memory();
  Atomics.add(control, PENDING, 1);
  Atomics.or(chunks[0] as Int32Array, 0, 1 << 2);
  expect(writer.register(2, FIRST)).toBe(true);
  expect([ring.count(FIRST), ring.close(), ring.isPresent(2, FIRST)]).toEqual([2, false, true]);
  Atomics.add(control, TOTAL, 1);
  Atomics.sub(control, PENDING, 1);
  expect([4, 5].map((later) => ring.count(FIRST + later))).toEqual([2, 0]);
});

/** A ring with a count of 1, and a writer as in another thread. */
function sharedRing(seat = 1) {
  const ring = new PresenceRing(1_000, { isShared: true });
  ring.register(seat, FIRST);
  return { ring, writer: new SharedPresenceWriter(ring.memory()) };
}

test('[V-3] a registration of another thread counts from its own interval on when the ring lags', () => {
  const { ring, writer } = sharedRing();
  expect([1, 2].map((ahead) => writer.register(2 + ahead, FIRST + ahead))).toEqual([true, true]);
  expect(ring.count(FIRST)).toBe(3);
  ring.count(FIRST + 2);
  expect(ring.countAtEndOf(FIRST + 1)).toBe(2);
  expect([4, 5, 6, 7].map((later) => ring.count(FIRST + later))).toEqual([3, 2, 1, 0]);
});

test('[F-26] the count at the end of an interval excludes registrations after it', () => {
  const { ring, writer } = sharedRing();
  writer.register(2, FIRST + 1);
  ring.count(FIRST + 1);
  expect([ring.countAtEndOf(FIRST), ring.count(FIRST + 1)]).toEqual([1, 2]);
});

test('[V-3] a registration of another thread for a past interval counts in the newest', () => {
  const { ring, writer } = sharedRing();
  ring.count(FIRST + 3);
  expect(writer.register(2, FIRST + 1)).toBe(true);
  expect([4, 5, 6, 7, 8].map((later) => ring.count(FIRST + later))).toEqual([2, 1, 1, 1, 0]);
});

test('a writer rejects a registration when it is too far ahead of the ring, or has no chunk for the seat', () => {
  const { writer } = sharedRing();
  expect(writer.register(2, FIRST + AHEAD_INTERVALS + 1)).toBe(false);
  expect([300, -1, 0.5].map((seat) => writer.register(seat, FIRST))).toEqual([false, false, false]);
});

test('a closed ring rejects registrations, and a ring with a present seat does not close', () => {
  const { ring, writer } = sharedRing();
  expect([ring.close(), writer.register(2, FIRST)]).toEqual([false, true]);
  expect(ring.count(FIRST + 5)).toBe(0);
  expect([ring.close(), writer.register(2, FIRST + 5)]).toEqual([true, false]);
});

/** Starts threads that register in a new ring. */
function startThreads(seats: number) {
  const ring = new PresenceRing(seats, { isShared: true });
  for (let seat = 0; seat < seats; seat += 1) ring.register(seat, FIRST - 10);
  ring.count(FIRST);
  const control = words(2);
  threads = Array.from({ length: THREADS }, (_, index) => {
    const work = {
      memory: ring.memory(),
      control,
      firstInterval: FIRST,
      status: words(3),
      certain: words(seats),
      possible: words(seats),
      seed: index + 1,
    };
    const worker = new Worker(
      new URL('../../../test/support/presence/presence-threads.ts', import.meta.url),
    );
    worker.postMessage(work);
    return { work, worker };
  });
  const command = async (code: number) => {
    Atomics.store(control, COMMAND, code);
    Atomics.notify(control, COMMAND);
    while (threads.some(({ work }) => Atomics.load(work.status, ACTIVE) !== code)) {
      await new Promise(setImmediate);
    }
  };
  command.now = (interval: number) => Atomics.store(control, NOW, interval);
  return { ring, command };
}

/** Present seats by the model: those that are certain, and those that are possible because the interval changed during the call. */
function presentAt(now: number, seats: number) {
  const newest = (of: (work: SeatWork) => Int32Array, seat: number) =>
    Math.max(...threads.map(({ work }) => of(work)[seat] as number)) - 1;
  const certain = new Set<number>();
  const possible = new Set<number>();
  for (let seat = 0; seat < seats; seat += 1) {
    if (newest((work) => work.certain, seat) > now - LIVE_INTERVALS) certain.add(seat);
    if (newest((work) => work.possible, seat) > now - LIVE_INTERVALS) possible.add(seat);
  }
  return { certain, possible };
}

function seatsIn(ring: PresenceRing, interval: number): number[] {
  const [block] = ring.blocksOf(interval);
  return [...(block?.bytes ?? [])].flatMap((byte, index) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (1 << bit)).map((bit) => index * 8 + bit),
  );
}

function words(length: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(length * 4));
}

/** Busy-waits, so that other threads run in between. */
function pause(ns: number): void {
  const endNs = Bun.nanoseconds() + ns;
  while (Bun.nanoseconds() < endNs);
}
