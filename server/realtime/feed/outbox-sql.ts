import type { ProducerEvent } from '../../../protocol/studio.ts';
import { lockOwnStream } from '../../domains/streams/streams-sql.ts';
import { Refusal } from '../../platform/errors.ts';
import { type Tx, writing } from '../../storage/sql/procedure.ts';

/** An event that was acknowledged and waits for its interval; `data` is JSON. */
export interface OutboxRow {
  readonly streamId: string;
  readonly number: number;
  readonly type: string;
  readonly data: string;
}

/**
 * Puts an event in the outbox, in the transaction of what it tells about. Sealing moves it into
 * exactly one interval (I2).
 * @returns the event's number in its stream
 */
export async function recordEvent(
  tx: Tx,
  streamId: string,
  type: string,
  data: object | null,
): Promise<number> {
  const [row] = await tx.query<{ number: number }>(
    'update streams set next_event = next_event + 1 where id = $1 returning next_event - 1 as number',
    [streamId],
  );
  if (!row) throw new Error(`no stream ${streamId}`);
  await tx.query('insert into outbox (stream_id, number, type, data) values ($1, $2, $3, $4)', [
    streamId,
    row.number,
    type,
    JSON.stringify(data),
  ]);
  return Number(row.number);
}

// A bound on what waits: at 200 events an interval it is 12 s of a stream's feed.
const WAITING_MAX = 10_000;

export const outboxProcedures = {
  /** Accepts an event of the producer's. @throws Refusal `conflict` when too many wait. */
  recordProducerEvent: writing(
    async (
      tx,
      input: { streamId: string; producer: string; event: ProducerEvent; nowMs: number },
    ): Promise<{ id: string; streamId: string; type: string }> => {
      const { streamId, event } = input;
      const stream = await lockOwnStream(tx, streamId, input.producer);
      if (stream.status === 'ENDED') throw new Refusal('conflict', 'The stream has ended.');
      const [waiting] = await tx.query<{ n: number }>(
        'select count(*) as n from outbox where stream_id = $1',
        [streamId],
      );
      if (Number(waiting?.n) >= WAITING_MAX) {
        throw new Refusal('conflict', 'Too many events wait for their interval; send fewer.');
      }
      const data =
        event.type === 'purchase' ? { ...event.data, at: input.nowMs } : (event.data ?? null);
      const number = await recordEvent(tx, streamId, event.type, data);
      return { id: String(number), streamId, type: event.type };
    },
  ),
};
