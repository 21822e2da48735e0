import { afterEach, expect, test } from 'bun:test';
import {
  ANY,
  END,
  LOST,
  NOW,
  OBEYS,
  ONE_BY_ONE,
  ORDER,
  REACHED,
  REST,
  type SeatWork,
} from '../../../test/support/presence/presence-threads.ts';
import { AHEAD_INTERVALS, LIVE_INTERVALS, PENDING, TOTAL } from './presence-cells.ts';
import { PresenceRing } from './presence-ring.ts';
import { SharedPresenceWriter } from './shared-presence-writer.ts';

const FIRST = 6_800_000_000;
const THREADS = 2;
const BURSTS = 100;
const TURNS = 1_000;

let threads: { work: SeatWork; worker: Worker }[] = [];

afterEach(() => {
  for (const { worker, work } of threads) {
    Atomics.store(work.told, ORDER, END);
    worker.terminate();
  }
  threads = [];
});

test('[I-5] seats that other threads register in while time goes on are counted as a model does', async () => {
  // Time goes so fast that most of them leave now and then, in the moment in which they come again.
  const seats = 256;
  const { ring, tell } = begin(seats);
  let now = 0;
  for (let burst = 0; burst < BURSTS; burst += 1) {
    await tell(ANY);
    for (let turn = 0; turn < TURNS; turn += 1) {
      now += 1;
      tell.now(now);
      ring.count(FIRST + now);
      pause(turn % 50 === 0 ? 50_000 : 1_500);
    }
    await tell(REST);
    const inSlots = new Set<number>();
    for (let past = now - 4; past <= now + AHEAD_INTERVALS; past += 1) {
      for (const seat of seatsIn(ring, FIRST + past)) inSlots.add(seat);
    }
    expect(ring.count(FIRST + now)).toBe(inSlots.size);
    const { surely, perhaps } = presentAt(now, seats);
    const wrong = Array.from({ length: seats }, (_, seat) => seat).filter((seat) => {
      const isPresent = ring.isPresent(seat, FIRST + now);
      const mayBe = isPresent ? perhaps.has(seat) : !surely.has(seat);
      return isPresent !== inSlots.has(seat) || !mayBe;
    });
    expect(wrong).toEqual([]);
  }
  expect(threads.map(({ work }) => work.doing[LOST])).toEqual([0, 0]);
  expect(ring.count(FIRST + now + LIVE_INTERVALS + AHEAD_INTERVALS)).toBe(0);
}, 20_000);

test('[V-6] who was told that it is registered is counted, also when another thread registers the same seat', async () => {
  for (let round = 0; round < 20; round += 1) {
    const seats = 4_000;
    const { ring, tell } = begin(seats);
    void tell(ONE_BY_ONE);
    let reached = 0;
    while (reached < seats) {
      reached = Math.max(...threads.map(({ work }) => Atomics.load(work.doing, REACHED)));
      expect(ring.count(FIRST)).toBeGreaterThanOrEqual(reached);
    }
    await tell(END);
    expect(ring.count(FIRST)).toBe(seats);
    for (const { worker } of threads) worker.terminate();
    threads = [];
  }
}, 20_000);

test('[V-6] nor is a viewer missed whose seat a thread makes present that stands still before it counts it', () => {
  const { ring, marks } = sharedRing();
  const { control, chunks } = ring.memory();
  Atomics.add(control, PENDING, 1);
  Atomics.or(chunks[0] as Int32Array, 0, 1 << 2);
  expect(marks.register(2, FIRST)).toBe(true);
  expect([ring.count(FIRST), ring.close(), ring.isPresent(2, FIRST)]).toEqual([2, false, true]);
  Atomics.add(control, TOTAL, 1);
  Atomics.sub(control, PENDING, 1);
  expect([4, 5].map((later) => ring.count(FIRST + later))).toEqual([2, 0]);
});

/** A ring with a count of 1, and what registers in it as another thread would. */
function sharedRing(seat = 1) {
  const ring = new PresenceRing(1_000, { isShared: true });
  ring.register(seat, FIRST);
  return { ring, marks: new SharedPresenceWriter(ring.memory()) };
}

test('[V-3] a registration of another thread counts from its own interval on, though the ring is late', () => {
  const { ring, marks } = sharedRing();
  expect([1, 2].map((ahead) => marks.register(2 + ahead, FIRST + ahead))).toEqual([true, true]);
  expect(ring.count(FIRST)).toBe(3);
  ring.count(FIRST + 2);
  expect(ring.countAtEndOf(FIRST + 1)).toBe(2);
  expect([4, 5, 6, 7].map((later) => ring.count(FIRST + later))).toEqual([3, 2, 1, 0]);
});

test('[F-26] the count at the end of an interval is without those who came after it', () => {
  const { ring, marks } = sharedRing();
  marks.register(2, FIRST + 1);
  ring.count(FIRST + 1);
  expect([ring.countAtEndOf(FIRST), ring.count(FIRST + 1)]).toEqual([1, 2]);
});

test('[V-3] one for an interval that is over counts in the newest', () => {
  const { ring, marks } = sharedRing();
  ring.count(FIRST + 3);
  expect(marks.register(2, FIRST + 1)).toBe(true);
  expect([4, 5, 6, 7, 8].map((later) => ring.count(FIRST + later))).toEqual([2, 1, 1, 1, 0]);
});

test('another thread leaves it to that of the ring when it is further ahead, or there is no room yet', () => {
  const { marks } = sharedRing();
  expect(marks.register(2, FIRST + AHEAD_INTERVALS + 1)).toBe(false);
  expect([300, -1, 0.5].map((seat) => marks.register(seat, FIRST))).toEqual([false, false, false]);
});

test('a ring that was given up takes no more, and none is given up with somebody in it', () => {
  const { ring, marks } = sharedRing();
  expect([ring.close(), marks.register(2, FIRST)]).toEqual([false, true]);
  expect(ring.count(FIRST + 5)).toBe(0);
  expect([ring.close(), marks.register(2, FIRST + 5)]).toEqual([true, false]);
});

/** A ring and threads that register in it. */
function begin(seats: number) {
  const ring = new PresenceRing(seats, { isShared: true });
  for (let seat = 0; seat < seats; seat += 1) ring.register(seat, FIRST - 10);
  ring.count(FIRST);
  const told = words(2);
  threads = Array.from({ length: THREADS }, (_, index) => {
    const work = {
      memory: ring.memory(),
      told,
      firstInterval: FIRST,
      doing: words(3),
      surely: words(seats),
      perhaps: words(seats),
      seed: index + 1,
    };
    const worker = new Worker(
      new URL('../../../test/support/presence/presence-threads.ts', import.meta.url),
    );
    worker.postMessage(work);
    return { work, worker };
  });
  const tell = async (order: number) => {
    Atomics.store(told, ORDER, order);
    Atomics.notify(told, ORDER);
    while (threads.some(({ work }) => Atomics.load(work.doing, OBEYS) !== order)) {
      await new Promise(setImmediate);
    }
  };
  tell.now = (interval: number) => Atomics.store(told, NOW, interval);
  return { ring, tell };
}

/** Who is present by the model. It cannot know in which interval a call counts during which time went on. */
function presentAt(now: number, seats: number) {
  const newest = (of: (work: SeatWork) => Int32Array, seat: number) =>
    Math.max(...threads.map(({ work }) => of(work)[seat] as number)) - 1;
  const surely = new Set<number>();
  const perhaps = new Set<number>();
  for (let seat = 0; seat < seats; seat += 1) {
    if (newest((work) => work.surely, seat) > now - LIVE_INTERVALS) surely.add(seat);
    if (newest((work) => work.perhaps, seat) > now - LIVE_INTERVALS) perhaps.add(seat);
  }
  return { surely, perhaps };
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

/** As other threads come between. */
function pause(ns: number): void {
  const endNs = Bun.nanoseconds() + ns;
  while (Bun.nanoseconds() < endNs);
}
