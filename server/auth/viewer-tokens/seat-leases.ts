import { LRUCache } from 'lru-cache';
import { DomainError, Unavailable } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { SeatPool } from './seat-pool.ts';
import type { tokenProcedures, StreamViewer } from './tokens-sql.ts';

export type SeatStore = Pick<
  Calls<typeof tokenProcedures>,
  'findSeats' | 'leaseSeats' | 'takeSeats'
>;

// Each pool holds a block or two: a few KB.
const STREAMS_MAX = 1_000;
/** A stream that had no first token for this long has its leased seats forgotten: a gap. */
const IDLE_MS = 600_000;
// The second try is for a seat that somebody else turned out to have, as after a restored backup.
const ATTEMPTS_MAX = 3;

/**
 * Gives viewers their seats. The first token of a viewer takes a seat from a block that this node
 * has leased, so that a rush waits for no row that all of them write (N-16); the database says which
 * seat the viewer has, whoever gave it.
 */
export class SeatLeases {
  private readonly pools = new LRUCache<string, SeatPool>({
    max: STREAMS_MAX,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
  });

  constructor(private readonly store: SeatStore) {}

  /**
   * The seats of these viewers, in their order; a DomainError for one whose stream is unknown or full.
   * @throws Unavailable when the database is; who has a seat then is not known
   */
  async assign(viewers: readonly StreamViewer[]): Promise<(number | DomainError)[]> {
    const seats: (number | DomainError | null)[] = await this.store.findSeats(viewers);
    for (let attempts = 0; seats.includes(null); attempts++) {
      if (attempts === ATTEMPTS_MAX) throw new Unavailable('Seats that were leased are taken.');
      const found = await this.assignNew(viewers.filter((_, index) => seats[index] === null));
      for (const [index, viewer] of viewers.entries()) seats[index] ??= found.get(viewer) ?? null;
    }
    return seats as (number | DomainError)[];
  }

  private async assignNew(
    viewers: readonly StreamViewer[],
  ): Promise<Map<StreamViewer, number | DomainError | null>> {
    const found = new Map<StreamViewer, number | DomainError | null>();
    const offers: (StreamViewer & { readonly seat: number })[] = [];
    const offered: StreamViewer[] = [];
    const leases = [...Map.groupBy(viewers, ({ streamId }) => streamId)].map(
      async ([streamId, ofStream]) => {
        const seats = await this.lease(streamId, ofStream.length);
        for (const [index, viewer] of ofStream.entries()) {
          if (seats instanceof DomainError) found.set(viewer, seats);
          else if (seats[index] !== undefined) {
            offers.push({ ...viewer, seat: seats[index] });
            offered.push(viewer);
          }
        }
      },
    );
    const outcomes = await Promise.allSettled(leases);
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) {
      // Nothing was offered, so all of them are free.
      for (const { streamId, seat } of offers) this.poolOf(streamId).put([seat]);
      throw failed.reason;
    }
    if (offers.length === 0) return found;
    // When this fails, the seats may be taken all the same: they are given to nobody else.
    const taken = await this.store.takeSeats(offers);
    for (const [index, offer] of offers.entries()) {
      const seat = taken[index] ?? null;
      found.set(offered[index] as StreamViewer, seat);
      if (seat !== null && seat !== offer.seat) this.poolOf(offer.streamId).put([offer.seat]);
    }
    return found;
  }

  /** So many free seats of a stream, or fewer when it is nearly full; a DomainError when it has none. */
  private async lease(streamId: string, count: number): Promise<number[] | DomainError> {
    const pool = this.poolOf(streamId);
    const seats = pool.take(count);
    if (seats.length === count) return seats;
    try {
      const blockSize = pool.nextBlockSize(count - seats.length);
      const block = await this.store.leaseSeats({ streamId, count: blockSize });
      pool.put([...seats, ...Array.from({ length: block.count }, (_, n) => block.first + n)]);
    } catch (error) {
      pool.put(seats);
      if (error instanceof DomainError && seats.length === 0) return error;
      if (!(error instanceof DomainError)) throw error;
    }
    return pool.take(count);
  }

  private poolOf(streamId: string): SeatPool {
    const pool = this.pools.get(streamId) ?? new SeatPool();
    this.pools.set(streamId, pool);
    return pool;
  }
}
