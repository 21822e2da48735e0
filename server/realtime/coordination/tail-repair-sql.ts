import { writing } from '../../storage/sql/procedure.ts';
import { raiseWatermark, type SealedBody } from '../feed/sealing-sql.ts';

export interface LostIntervals {
  /** Where the watermark is. */
  readonly after: number;
  /** The last interval to write back. */
  readonly interval: number;
  /** All bodies of these intervals that were served and were not empty. */
  readonly bodies: readonly SealedBody[];
}

export const lostTailProcedures = {
  /**
   * Seals intervals as they were served before the database lost them. Streams that it lost as well
   * are left out.
   * @returns whether it did; not when the watermark is elsewhere, or somebody else is at it
   */
  restoreSealed: writing(
    async (tx, { after, interval, bodies }: LostIntervals): Promise<boolean> => {
      if (!(await raiseWatermark(tx, after, interval))) return false;
      await tx.query(
        `insert into sealed_intervals (stream_id, interval, body)
         select lost.stream_id, lost.interval, lost.body
         from ${tx.rows('$1', ['stream_id text', 'interval bigint', 'body text'])} lost
         where lost.stream_id in (select id from streams)
         on conflict (stream_id, interval) do nothing`,
        [JSON.stringify(bodies.map(({ streamId, interval, body }) => [streamId, interval, body]))],
      );
      return true;
    },
  ),
};
