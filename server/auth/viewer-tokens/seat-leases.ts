import { LRUCache } from 'lru-cache';
import { SEATS_MAX } from '../../../protocol/limits.ts';
import { DomainError, Unavailable } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { SeatPool } from './seat-pool.ts';
import { noSuchStream, type StreamViewer, type tokenProcedures } from './tokens-sql.ts';

export type SeatStore = Pick<
  Calls<typeof tokenProcedures>,
  'findSeats' | 'leaseSeats' | 'takeSeats'
>;

// A pool has one or two blocks: a few KB.
const STREAMS_MAX = 1_000;
/** The pool of a stream without new viewers for this long is dropped; its seats remain unused. */
const IDLE_MS = 600_000;
/** The operator is warned when half of the seats are left: those last one address for 23 h (L-4). */
const WARNING_SEATS = SEATS_MAX / 2;
// Another attempt is needed when a leased seat is taken already, as after a restored backup.
const ATTEMPTS_MAX = 3;

/** A seat, why there is none, or null: not assigned yet. */
type Seat = number | Error | null;

const asError = (error: Error): Error => error;

/**
 * Assigns seats to viewers. A new viewer gets a seat of a block that this node has leased, so that a
 * rush does not contend for one counter row (N-16). The database decides which seat a viewer has.
 */
export class SeatLeases {
  private readonly pools = new LRUCache<string, SeatPool>({
    max: STREAMS_MAX,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
  });
  /** By stream: the number of its seats that nodes have leased, when this node last leased some. */
  private readonly leased = new LRUCache<string, number>({ max: STREAMS_MAX, ttl: IDLE_MS });

  /** @param onHalfFull called once when half of the seats of a stream are leased, by the node that leases them */
  constructor(
    private readonly store: SeatStore,
    private readonly onHalfFull: (streamId: string) => void = () => {},
  ) {}

  /** The share of seats that are leased in the fullest stream with new viewers on this node; 0 without any. */
  usedRatio(): number {
    return Math.max(0, ...this.leased.values()) / SEATS_MAX;
  }

  /**
   * Finds or assigns the seats of viewers.
   * @returns the seats in the order of the viewers; a DomainError for a viewer of an unknown or full stream,
   *   and the error of a lease for the viewers of its stream
   * @throws Unavailable when the database is unavailable; some seats may be assigned then
   */
  async assign(viewers: readonly StreamViewer[]): Promise<(number | Error)[]> {
    const found = await this.store.findSeats(viewers);
    const seats = found.map((seat) => (seat === 'no-stream' ? noSuchStream() : seat)) as Seat[];
    for (let attempts = 0; seats.includes(null); attempts++) {
      if (attempts === ATTEMPTS_MAX) {
        return seats.map((seat) => seat ?? new Unavailable('The leased seats are already taken.'));
      }
      const results = await this.assignNew(viewers.filter((_, index) => seats[index] === null));
      for (const [index, viewer] of viewers.entries()) seats[index] ??= results.get(viewer) ?? null;
    }
    return seats as (number | Error)[];
  }

  private async assignNew(viewers: readonly StreamViewer[]): Promise<Map<StreamViewer, Seat>> {
    const results = new Map<StreamViewer, Seat>();
    const offers: (StreamViewer & { readonly seat: number })[] = [];
    const offeredViewers: StreamViewer[] = [];
    const leases = [...Map.groupBy(viewers, ({ streamId }) => streamId)].map(
      async ([streamId, streamViewers]) => {
        const seats = await this.lease(streamId, streamViewers.length).catch(asError);
        for (const [index, viewer] of streamViewers.entries()) {
          if (seats instanceof Error) results.set(viewer, seats);
          else if (seats[index] !== undefined) {
            offers.push({ ...viewer, seat: seats[index] });
            offeredViewers.push(viewer);
          }
        }
      },
    );
    await Promise.all(leases);
    if (offers.length === 0) return results;
    // If this call fails, the seats may be taken nevertheless, so they do not return to the pool.
    const taken = await this.store.takeSeats(offers);
    for (const [index, offer] of offers.entries()) {
      const seat = taken[index] ?? 'seat-taken';
      const viewer = offeredViewers[index] as StreamViewer;
      if (seat === 'no-stream') {
        this.pools.delete(offer.streamId);
        results.set(viewer, noSuchStream());
      } else if (seat === 'seat-taken') results.set(viewer, null);
      else {
        results.set(viewer, seat);
        if (seat !== offer.seat) this.poolOf(offer.streamId).put([offer.seat]);
      }
    }
    return results;
  }

  /** Up to `count` free seats of a stream, fewer when it is nearly full; a DomainError when it is full. */
  private async lease(streamId: string, count: number): Promise<number[] | DomainError> {
    // Stored once there is a lease: pools of streams that do not exist would evict others.
    let pool = this.pools.get(streamId) ?? new SeatPool();
    const seats = pool.take(count);
    if (seats.length === count) return seats;
    try {
      const blockSize = pool.nextBlockSize(count - seats.length);
      const block = await this.store.leaseSeats({ streamId, count: blockSize });
      if (block.count === 0) throw noSuchStream();
      this.noteLeased(streamId, block.first, block.count);
      pool = this.poolOf(streamId, pool);
      pool.put([...seats, ...Array.from({ length: block.count }, (_, n) => block.first + n)]);
    } catch (error) {
      pool.put(seats);
      if (error instanceof DomainError && error.kind === 'conflict') {
        this.leased.set(streamId, SEATS_MAX);
      }
      if (error instanceof DomainError && seats.length === 0) return error;
      if (!(error instanceof DomainError)) throw error;
    }
    return pool.take(count);
  }

  private noteLeased(streamId: string, first: number, count: number): void {
    this.leased.set(streamId, first + count);
    if (first < WARNING_SEATS && first + count >= WARNING_SEATS) this.onHalfFull(streamId);
  }

  /** The stored pool of a stream; the given one if there is none. */
  private poolOf(streamId: string, initial = new SeatPool()): SeatPool {
    const pool = this.pools.get(streamId) ?? initial;
    this.pools.set(streamId, pool);
    return pool;
  }
}
