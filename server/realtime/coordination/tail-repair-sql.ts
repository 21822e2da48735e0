import { writeProcedure } from '../../storage/sql/procedure.ts';
import type { SealedBody } from '../feed/sealed-sql.ts';
import { raiseWatermark } from '../feed/sealing-sql.ts';

export interface LostIntervals {
  readonly after: number;
  /** The last interval to restore; the first is `after + 1`. */
  readonly interval: number;
  /** All bodies of these intervals that were served and are not empty. */
  readonly bodies: readonly SealedBody[];
}

export const tailRepairProcedures = {
  /**
   * Seals intervals with the bodies that were served before the database lost them. Bodies of
   * streams that the database lost as well are left out.
   * @returns false, without effect, when the watermark is not `after` or another node is sealing
   */
  restoreSealed: writeProcedure(
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
