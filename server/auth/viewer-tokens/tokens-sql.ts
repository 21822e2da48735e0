import { SEATS_MAX } from '../../../protocol/limits.ts';
import { DomainError } from '../../platform/errors.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { planRotation, type SigningKey } from './signing-keys.ts';

const KEY_COLUMNS =
  'kid, private_jwk as "privateJwk", created, active_from as "activeFrom", retires';

/** A viewer of a stream, by opaque id. */
export interface StreamViewer {
  readonly streamId: string;
  readonly viewer: string;
}

/** The error for a viewer of a stream that does not exist. */
export const noSuchStream = () =>
  new DomainError('not-found', 'There is no stream with this stream_id.');

/** What became of an offered seat: the seat of the viewer, or why it has none. */
export type TakenSeat = number | 'seat-taken' | 'no-stream';

/** A viewer and the leased seat that it gets if it has none. */
export interface SeatOffer extends StreamViewer {
  readonly seat: number;
}

/**
 * A subquery instead of a join: PostgreSQL read all seats of the stream for each viewer of a join that it
 * planned while the table was nearly empty. With 20,000 seats, 42 viewers took 560 ms.
 */
async function findSeats(tx: Tx, viewers: readonly StreamViewer[]): Promise<(number | null)[]> {
  const rows = await tx.query<StreamViewer & { readonly seat: number | null }>(
    `select asked.stream_id as "streamId", asked.viewer as viewer,
       (select s.seat from seats s where s.stream_id = asked.stream_id and s.viewer = asked.viewer) as seat
     from ${tx.rows('$1', ['stream_id text', 'viewer text'])} asked`,
    [JSON.stringify(viewers.map(({ streamId, viewer }) => [streamId, viewer]))],
  );
  const seatOf = new Map(rows.map((row) => [keyOf(row), row.seat]));
  return viewers.map((viewer) => seatOf.get(keyOf(viewer)) ?? null);
}

async function findStreamIds(tx: Tx, viewers: readonly StreamViewer[]): Promise<Set<string>> {
  const asked = [...new Set(viewers.map(({ streamId }) => streamId))];
  const rows = await tx.query<{ id: string }>(
    `select streams.id as id from ${tx.rows('$1', ['id text'])} asked
     join streams on streams.id = asked.id`,
    [JSON.stringify(asked.map((id) => [id]))],
  );
  return new Set(rows.map(({ id }) => id));
}

// Unambiguous, because stream ids have a fixed length.
const keyOf = ({ streamId, viewer }: StreamViewer) => streamId + viewer;

export const tokenProcedures = {
  /**
   * The seats of viewers, in their order; null for a viewer without one. Anybody may ask for a token of any
   * stream: with a lease for each unknown one, PostgreSQL had 1,000 write transactions for a batch.
   */
  findSeats: readProcedure(
    async (tx, viewers: readonly StreamViewer[]): Promise<(number | null | 'no-stream')[]> => {
      const seats = await findSeats(tx, viewers);
      if (!seats.includes(null)) return seats;
      const unseated = viewers.filter((_, index) => seats[index] === null);
      const streams = await findStreamIds(tx, unseated);
      return viewers.map(
        ({ streamId }, index) => seats[index] ?? (streams.has(streamId) ? null : 'no-stream'),
      );
    },
  ),

  /**
   * Leases the next seats of a stream exclusively to the caller: `count`, or fewer when the stream is
   * nearly full, none when the stream has just been removed. That is no error: it makes SQLite run all calls of
   * its commit again. Unused seats remain gaps.
   * @throws DomainError `conflict` when the stream is full
   */
  leaseSeats: writeProcedure(
    async (
      tx,
      { streamId, count }: { streamId: string; count: number },
    ): Promise<{ first: number; count: number }> => {
      const [row] = await tx.query<{ next: number }>(
        `insert into seat_counters (stream_id, next_seat)
         select id, $2 from streams where id = $1
         on conflict (stream_id) do update
         set next_seat = seat_counters.next_seat + excluded.next_seat
         returning next_seat as next`,
        [streamId, count],
      );
      if (!row) return { first: 0, count: 0 };
      const first = row.next - count;
      if (first >= SEATS_MAX)
        throw new DomainError('conflict', 'The stream is full: all of its seats are taken.');
      return { first, count: Math.min(count, SEATS_MAX - first) };
    },
  ),

  /**
   * Assigns leased seats to viewers without one. A viewer that has a seat, possibly assigned by another
   * node just now, keeps it. The stream of an offer may have been removed after its seats were leased.
   * @returns the result of each offer, in their order
   */
  takeSeats: writeProcedure(
    async (tx, offers: readonly SeatOffer[]): Promise<readonly TakenSeat[]> => {
      // Sorted by key, so that two concurrent batches cannot deadlock.
      const inOrder = offers.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
      // Without the constant condition, SQLite parses the "on" of "on conflict" as that of a join.
      const { affected } = await tx.query(
        `insert into seats (stream_id, viewer, seat)
       select offered.stream_id, offered.viewer, offered.seat
       from ${tx.rows('$1', ['stream_id text', 'viewer text', 'seat integer'])} offered
       join streams on streams.id = offered.stream_id
       where true on conflict do nothing`,
        [JSON.stringify(inOrder.map(({ streamId, viewer, seat }) => [streamId, viewer, seat]))],
      );
      if (affected === offers.length) return offers.map(({ seat }) => seat);
      const seats = await findSeats(tx, offers);
      const streams = await findStreamIds(tx, offers);
      return offers.map(
        ({ streamId }, index) =>
          seats[index] ?? (streams.has(streamId) ? 'seat-taken' : 'no-stream'),
      );
    },
  ),

  /** A named secret of this database: the value that the first call offered. */
  keepSecret: writeProcedure(
    async (tx, { name, offered }: { name: string; offered: string }): Promise<string> => {
      await tx.query(
        'insert into secrets (name, value) values ($1, $2) on conflict (name) do nothing',
        [name, offered],
      );
      const [row] = await tx.query<{ value: string }>('select value from secrets where name = $1', [
        name,
      ]);
      return row?.value ?? offered;
    },
  ),

  listSigningKeys: readProcedure(async (tx): Promise<SigningKey[]> => {
    const rows = await tx.query<SigningKey>(
      `select ${KEY_COLUMNS} from signing_keys order by active_from`,
    );
    return [...rows];
  }),

  /**
   * Stores the offered key when a rotation is due or forced, and deletes retired keys. Concurrent calls
   * of several nodes rotate once.
   */
  rotateSigningKeys: writeProcedure(
    async (
      tx,
      input: { offered: { kid: string; privateJwk: string }; force: boolean; nowMs: number },
    ): Promise<SigningKey[]> => {
      // Lock a counter row, because there may be no key rows to lock yet.
      await tx.query(`select name from counters where name = 'signing-key' ${tx.locks.update}`);
      const keys = await tx.query<SigningKey>(
        `select ${KEY_COLUMNS} from signing_keys order by active_from`,
      );
      const plan = planRotation([...keys], input.offered, input.nowMs, input.force);
      for (const { kid } of plan.retired) {
        await tx.query('delete from signing_keys where kid = $1', [kid]);
      }
      for (const key of plan.retained) {
        await tx.query(
          `insert into signing_keys (kid, private_jwk, created, active_from, retires)
           values ($1, $2, $3, $4, $5)
           on conflict (kid) do update set retires = excluded.retires`,
          [key.kid, key.privateJwk, key.created, key.activeFrom, key.retires],
        );
      }
      return plan.retained;
    },
  ),
};
