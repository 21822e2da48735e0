import type { Tx } from '../sql/procedure.ts';
import { bodyOf, deliveryIdOf, type Happening } from './happenings.ts';

/** A happening, and a webhook that wants to be told of it. */
export interface Wanted {
  readonly happening: Happening;
  readonly webhook: string;
}

/** Which webhooks want to be told; one look at an index, and none when nothing happened. */
export async function wantedOf(tx: Tx, happenings: readonly Happening[]): Promise<Wanted[]> {
  if (happenings.length === 0) return [];
  const rows = await tx.query<{ place: number; webhook: string }>(
    `select happened.place as place, w.webhook as webhook
     from ${tx.rows('$1', ['place integer', 'type text', 'stream_id text'])} happened
     join streams s on s.id = happened.stream_id
     join subscriptions w on w.type = happened.type and w.account = s.producer`,
    [JSON.stringify(happenings.map(({ type, streamId }, place) => [place, type, streamId]))],
  );
  return rows.map(({ place, webhook }) => {
    return { happening: happenings[Number(place)] as Happening, webhook };
  });
}

/** Puts what happened before the webhooks that want it, to be sent as soon as it is committed. */
export async function enqueue(tx: Tx, wanted: readonly Wanted[], nowMs: number): Promise<void> {
  if (wanted.length === 0) return;
  const told = wanted.map(({ happening, webhook }) => {
    const { type, data } = happening;
    return [deliveryIdOf(webhook, happening), webhook, type, bodyOf(type, nowMs, data)];
  });
  await tx.query(
    `insert into deliveries (id, webhook, type, body, created, state, due)
     select id, webhook, type, body, $2, 'pending', $2
     from ${tx.rows('$1', ['id text', 'webhook text', 'type text', 'body text'])} told where true
     on conflict (id) do nothing`,
    [JSON.stringify(told), nowMs],
  );
}

/** Tells webhooks in the transaction of a producer's call: both are recorded or neither is. */
export async function tell(tx: Tx, happening: Happening, nowMs: number): Promise<void> {
  await enqueue(tx, await wantedOf(tx, [happening]), nowMs);
}
