import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { SEATS_MAX } from '../../../protocol/limits.ts';
import { DomainError, Unavailable } from '../../platform/errors.ts';
import { SeatLeases, type SeatStore } from './seat-leases.ts';
import type { SeatOffer, StreamViewer, TakenSeat } from './tokens-sql.ts';

// Several nodes assign seats to viewers who connect to any of them, repeatedly and concurrently. Calls
// reach the database in any order, and so do the results. Some calls fail, some results are lost, and
// nodes restart.

const NODES = 3;
const STREAMS = ['stream a', 'stream b'];

/** The outcome of a call: it may take effect although its result is lost. */
type CallOutcome = 'works' | 'fails' | 'loses its result';

/** A model of the database: a viewer has one seat, and a seat has one viewer. */
class ModelDatabase implements SeatStore {
  readonly seats = new Map<string, number>();
  /** Streams that were removed, as a rehearsal is. */
  readonly removed = new Set<string>();
  private readonly next = new Map<string, number>();
  private readonly taken = new Set<string>();

  constructor(private readonly through: <T>(name: string, effect: () => T) => Promise<T>) {}

  findSeats = (viewers: readonly StreamViewer[]) =>
    this.through('find', () =>
      viewers.map((viewer) =>
        STREAMS.includes(viewer.streamId) ? this.seatOf(viewer) : ('no-stream' as const),
      ),
    );

  leaseSeats = ({ streamId, count }: { streamId: string; count: number }) =>
    this.through('lease', () => {
      if (!STREAMS.includes(streamId)) return { first: 0, count: 0 };
      const first = this.next.get(streamId) ?? 0;
      this.next.set(streamId, first + count);
      return { first, count };
    });

  takeSeats = (offers: readonly SeatOffer[]) =>
    this.through('take', () => {
      for (const offer of offers) {
        if (this.removed.has(offer.streamId)) continue;
        const key = `${offer.streamId} ${offer.seat}`;
        if (this.seatOf(offer) !== null || this.taken.has(key)) continue;
        this.seats.set(keyOf(offer), offer.seat);
        this.taken.add(key);
      }
      return offers.map((offer): TakenSeat => {
        const reason = this.removed.has(offer.streamId) ? 'no-stream' : 'seat-taken';
        return this.seatOf(offer) ?? reason;
      });
    });

  private seatOf(viewer: StreamViewer): number | null {
    return this.seats.get(keyOf(viewer)) ?? null;
  }
}

const keyOf = ({ streamId, viewer }: StreamViewer) => `${streamId} ${viewer}`;

const viewer: fc.Arbitrary<StreamViewer> = fc.record({
  streamId: fc.constantFrom(STREAMS[0] as string, ...STREAMS, 'no stream'),
  viewer: fc.integer({ min: 1, max: 25 }).map(String),
});
const request = fc.record({
  node: fc.nat(NODES - 1),
  viewers: fc.array(viewer, { minLength: 1, maxLength: 8 }),
});
/** Concurrent requests, and a node that restarts after them. */
const wave = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 5 }),
  restarting: fc.option(fc.nat(NODES - 1), { nil: null }),
});
const outcomes = fc.infiniteStream(
  fc.constantFrom<CallOutcome>('works', 'works', 'works', 'works', 'fails', 'loses its result'),
);

test('[T-8] [T-9] [N-16] a viewer has the same unique seat on all nodes, whatever calls fail or results are lost', async () => {
  let assigned = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(wave, { minLength: 1, maxLength: 12 }),
      outcomes,
      async (scheduler, waves, outcome) => {
        const store = new ModelDatabase(async (name, effect) => {
          const { value } = outcome.next();
          await scheduler.schedule(Promise.resolve(), `${name} arrives`);
          if (value === 'fails') throw new Unavailable('failed');
          const result = effect();
          await scheduler.schedule(Promise.resolve(), `${name} is answered`);
          if (value === 'loses its result') throw new Unavailable('lost');
          return result;
        });
        const nodes = Array.from({ length: NODES }, () => new SeatLeases(store));
        const seatOf = new Map<string, number>();
        for (const { requests, restarting } of waves) {
          const assignments = requests.map(async ({ node, viewers }) => {
            const seats = await nodes[node]?.assign(viewers).catch((error: unknown) => {
              if (!(error instanceof Unavailable)) throw error;
            });
            for (const [index, seat] of (seats ?? []).entries()) {
              const viewer = viewers[index] as StreamViewer;
              if (seat instanceof Unavailable) continue;
              expect(seat instanceof DomainError).toBe(!STREAMS.includes(viewer.streamId));
              if (seat instanceof Error) continue;
              const key = keyOf(viewer);
              expect(seat).toBe(seatOf.get(key) ?? seat);
              expect(seat).toBe(store.seats.get(key) ?? -1);
              seatOf.set(key, seat);
              assigned += 1;
            }
          });
          await scheduler.waitFor(Promise.all(assignments));
          if (restarting !== null) nodes[restarting] = new SeatLeases(store);
        }
        for (const streamId of STREAMS) {
          const assignments = [...seatOf].filter(([key]) => key.startsWith(streamId));
          expect(new Set(assignments.map(([, seat]) => seat)).size).toBe(assignments.length);
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(assigned).toBeGreaterThan(1_000);
}, 30_000);

test('[T-8] a single process assigns seats from 0 without gaps, for batches of any size', async () => {
  const works = async <T>(_: string, effect: () => T) => effect();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 20 }),
      async (sizes) => {
        const node = new SeatLeases(new ModelDatabase(works));
        let count = 0;
        for (const size of sizes) {
          const viewers = Array.from({ length: size }, () => {
            return { streamId: STREAMS[0] as string, viewer: `${count++}` };
          });
          expect(await node.assign(viewers)).toEqual(viewers.map(({ viewer: n }) => Number(n)));
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('[N-16] a leased seat that another viewer already has is not assigned', async () => {
  const store = new ModelDatabase(async (_, effect) => effect());
  // As after a restored backup: seats 0 and 1 are taken, but the counter starts at 0.
  const before = ['x', 'y'].map((name, seat) => {
    return { streamId: STREAMS[0] as string, viewer: name, seat };
  });
  await store.takeSeats(before);
  const node = new SeatLeases(store);
  const ann = [{ streamId: STREAMS[0] as string, viewer: 'ann' }];
  expect(await node.assign(ann)).toEqual([2]);
  expect(await node.assign(ann)).toEqual([2]);
});

test('[T-8] a viewer of a removed stream gets 404, and the others of its batch get their seats', async () => {
  const store = new ModelDatabase(async (_, effect) => effect());
  const node = new SeatLeases(store);
  const [rehearsal = '', show = ''] = STREAMS;
  await node.assign([{ streamId: rehearsal, viewer: 'ann' }]);
  store.removed.add(rehearsal);
  const batch = [
    { streamId: rehearsal, viewer: 'ben' },
    { streamId: show, viewer: 'ben' },
  ];
  const [missing, seat] = await node.assign(batch);
  expect(missing).toMatchObject({ kind: 'not-found' });
  expect(seat).toBe(0);
});

test('[T-8] requests for streams that do not exist cause no gap in the seats of others', async () => {
  const node = new SeatLeases(new ModelDatabase(async (_, effect) => effect()));
  const seatOf = (name: string) => node.assign([{ streamId: STREAMS[0] as string, viewer: name }]);
  expect(await seatOf('ann')).toEqual([0]);
  // This leases seats 1 and 2.
  expect(await seatOf('ben')).toEqual([1]);
  const unknown = Array.from({ length: 1_001 }, (_, index) => `no stream ${index}`);
  await node.assign(unknown.map((streamId) => ({ streamId, viewer: 'eve' })));
  expect(await seatOf('cid')).toEqual([2]);
});

test('[L-13] a stream half of whose seats are taken is reported once, and its share until it is full', async () => {
  const store = new ModelDatabase(async (_, effect) => effect());
  const reported: string[] = [];
  const node = new SeatLeases(store, (streamId) => reported.push(streamId));
  const [streamId = '', quiet = ''] = STREAMS;
  const join = (name: string) => node.assign([{ streamId, viewer: name }]);
  await node.assign([{ streamId: quiet, viewer: 'ann' }]);
  expect(node.usedRatio()).toBe(1 / SEATS_MAX);

  await store.leaseSeats({ streamId, count: SEATS_MAX / 2 - 1 });
  await join('ann');
  expect([node.usedRatio(), reported]).toEqual([0.5, [streamId]]);
  await join('ben');
  expect(node.usedRatio()).toBeGreaterThan(0.5);
  expect(reported).toEqual([streamId]);

  const full = { ...store, leaseSeats: () => Promise.reject(new DomainError('conflict', 'Full.')) };
  const late = new SeatLeases(full);
  await late.assign([{ streamId, viewer: 'cid' }]);
  expect(late.usedRatio()).toBe(1);
});

test('[T-8] tokens of unknown streams lease no seats, and a lease that fails concerns only its stream', async () => {
  const database = new ModelDatabase(async (_, effect) => effect());
  const leasedStreams: string[] = [];
  const leases = new SeatLeases({
    ...database,
    leaseSeats: async (input) => {
      leasedStreams.push(input.streamId);
      if (input.streamId === STREAMS[1]) throw new Unavailable('failed');
      return database.leaseSeats(input);
    },
  });
  const streamIds = [...STREAMS.slice(0, 2), ...Array.from({ length: 100 }, (_, n) => `none ${n}`)];
  const viewers = streamIds.map((streamId) => ({ streamId, viewer: '1' }));
  const [seat, failed, ...unknown] = await leases.assign(viewers);
  expect(seat).toBe(0);
  expect(failed).toEqual(new Unavailable('failed'));
  expect(unknown.every((each) => each instanceof DomainError)).toBe(true);
  expect(leasedStreams).toEqual(STREAMS.slice(0, 2));
});
