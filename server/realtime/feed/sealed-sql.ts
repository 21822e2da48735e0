import { readProcedure, type Tx } from '../../storage/sql/procedure.ts';

/** The stored body of an interval of one stream. Empty intervals are not stored. */
export interface SealedBody {
  readonly streamId: string;
  readonly interval: number;
  readonly body: string;
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

/** Reads of sealed intervals. */
export const sealedProcedures = {
  /** The newest sealed interval; −1 when none ever was. */
  readWatermark: readProcedure(async (tx): Promise<number> => {
    const [row] = await tx.query<{ interval: number }>('select interval from watermark');
    return Number(row?.interval ?? -1);
  }),

  /** Stored bodies of all streams between two intervals (inclusive), by interval. */
  readSealedOfAll: readProcedure(
    async (tx, { from, to }: { from: number; to: number }): Promise<SealedBody[]> => {
      // The condition on streams makes this one index search per stream instead of a table scan.
      const rows = await tx.query<SealedBody>(
        `select stream_id as "streamId", interval, body from sealed_intervals
         where stream_id in (select id from streams) and interval between $1 and $2
         order by interval`,
        [from, to],
      );
      return [...rows];
    },
  ),

  /** One page of the stored bodies of a stream between two intervals (inclusive), in order. */
  readSealed: readProcedure(async (tx, input: SealedPage): Promise<SealedBody[]> => {
    const { streamId, from, limit, bytesMax } = input;
    const to = bytesMax === undefined ? input.to : await lastWithin(tx, { ...input, bytesMax });
    const rows = await tx.query<SealedBody>(
      `select stream_id as "streamId", interval, body from sealed_intervals
       where stream_id = $1 and interval between $2 and $3 order by interval limit $4`,
      [streamId, from, to, limit],
    );
    return [...rows];
  }),
};

// Reads sizes first, so that bodies beyond the page are not read.
async function lastWithin(tx: Tx, page: Required<SealedPage>): Promise<number> {
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
  return page.to;
}
