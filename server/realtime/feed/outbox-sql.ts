import type { Tx } from '../../storage/sql/procedure.ts';

/** An acknowledged event that waits for sealing; `data` is JSON. */
export interface OutboxRow {
  readonly streamId: string;
  /** Orders the events of a stream. */
  readonly number: number;
  readonly type: string;
  readonly data: string;
}

/**
 * Adds an event to the outbox, in the transaction of the change that it reports. Sealing moves it
 * into exactly one interval (I2).
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
  const event = [streamId, row.number, type, JSON.stringify(data)];
  await tx.query(
    'insert into outbox (stream_id, number, type, data) values ($1, $2, $3, $4)',
    event,
  );
  return Number(row.number);
}
