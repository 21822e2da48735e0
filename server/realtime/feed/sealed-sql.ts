import { Unavailable } from '../../platform/errors.ts';
import { readProcedure, type Tx } from '../../storage/sql/procedure.ts';

/** The stored body of an interval of one stream. Empty intervals are not stored. */
export interface SealedBody {
  readonly streamId: string;
  readonly interval: number;
  readonly body: string;
}

/** Stored bodies, and the timeline of the database that had them. */
export interface SealedRange {
  readonly timeline: string;
  readonly bodies: readonly SealedBody[];
}

/** Limits of one page of stored bodies. */
export interface SealedPage {
  readonly streamId: string;
  readonly from: number;
  readonly to: number;
  /** Most rows. */
  readonly limit: number;
  /** The body that reaches this size is the last of the page. */
  readonly bytesMax?: number;
}

/** The database lacks intervals that were served: it lost its last commits. */
export class DatabaseRolledBack extends Unavailable {
  constructor(watermark: number, served: number) {
    super(`the database went back: it ends with interval ${watermark}, and ${served} was served`);
  }
}

/** Reads of sealed intervals. */
export const sealedProcedures = {
  /** The newest sealed interval; −1 when none ever was. */
  readWatermark: readProcedure(async (tx): Promise<number> => {
    const [row] = await tx.query<{ interval: number }>('select interval from watermark');
    return Number(row?.interval ?? -1);
  }),

  /**
   * Stored bodies of all streams between two sealed intervals (inclusive), by interval.
   * @throws DatabaseRolledBack
   */
  readSealedOfAll: readProcedure(
    async (tx, { from, to }: { from: number; to: number }): Promise<SealedRange> => {
      await requireSealed(tx, to);
      // The condition on streams makes this one index search per stream instead of a table scan.
      const rows = await tx.query<SealedBody>(
        `select stream_id as "streamId", interval, body from sealed_intervals
         where stream_id in (select id from streams) and interval between $1 and $2
         order by interval`,
        [from, to],
      );
      return { timeline: tx.timeline, bodies: [...rows] };
    },
  ),

  /**
   * One page of the stored bodies of a stream between two sealed intervals (inclusive), in order.
   * @throws DatabaseRolledBack
   */
  readSealed: readProcedure(async (tx, page: SealedPage): Promise<SealedBody[]> => {
    await requireSealed(tx, page.to);
    return sealedPage(tx, page);
  }),
};

/**
 * Checks that the database has the intervals up to this one. The caller knows that they are sealed, but
 * a standby of PostgreSQL that lacks them may have been promoted since, and would show them empty.
 */
async function requireSealed(tx: Tx, to: number): Promise<void> {
  const watermark = await sealedProcedures.readWatermark.run(tx, {});
  if (watermark < to) throw new DatabaseRolledBack(watermark, to);
}

/** One page of what is stored between two intervals, sealed or not. */
export async function sealedPage(tx: Tx, page: SealedPage): Promise<SealedBody[]> {
  const { streamId, from, limit, bytesMax } = page;
  const to = bytesMax === undefined ? page.to : await lastOfPage(tx, { ...page, bytesMax });
  const rows = await tx.query<SealedBody>(
    `select stream_id as "streamId", interval, body from sealed_intervals
     where stream_id = $1 and interval between $2 and $3 order by interval limit $4`,
    [streamId, from, to, limit],
  );
  return [...rows];
}

/** The last interval of a page, by the sizes of bodies: those beyond the page are not read. */
export async function lastOfPage(tx: Tx, page: Required<SealedPage>): Promise<number> {
  const rows = await tx.query<{ interval: number; bytes: number }>(
    `select interval, octet_length(body) as bytes from sealed_intervals
     where stream_id = $1 and interval between $2 and $3 order by interval limit $4`,
    [page.streamId, page.from, page.to, page.limit],
  );
  let total = 0;
  for (const { interval, bytes } of rows) {
    total += Number(bytes);
    if (total >= page.bytesMax) return Number(interval);
  }
  return rows.length < page.limit ? page.to : Number(rows.at(-1)?.interval);
}
