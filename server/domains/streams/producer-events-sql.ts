import type { ProducerEvent, Purchase } from '../../../protocol/studio.ts';
import { DomainError } from '../../platform/errors.ts';
import { recordEvent } from '../../realtime/feed/outbox-sql.ts';
import { countRows } from '../../storage/sql/counters.ts';
import { writeProcedure } from '../../storage/sql/procedure.ts';
import { takeFromStock } from '../products/products-sql.ts';
import { lockOwnStream, type OwnStream } from './streams-sql.ts';

/** Most events of a stream in the outbox: 5 s of its feed, 40 s if each has the longest data. */
const WAITING_MAX = 10_000;

export const producerEventProcedures = {
  /**
   * Accepts an event from a producer and records it in the outbox.
   * A purchase that names a product takes from its stock.
   * @throws DomainError `not-found`; `conflict` when the stream has ended or too many events wait;
   *   `invalid` when the stream has no such product
   */
  recordProducerEvent: writeProcedure(
    async (tx, input: OwnStream & { event: ProducerEvent; nowMs: number }) => {
      const { streamId, event } = input;
      const stream = await lockOwnStream(tx, streamId, input.producer);
      if (stream.status === 'ENDED') throw new DomainError('conflict', 'The stream has ended.');
      if ((await countRows(tx, 'outbox where stream_id = $1', [streamId])) >= WAITING_MAX) {
        throw new DomainError('conflict', 'Too many events wait for their interval; send fewer.');
      }
      const purchase = purchaseIn(event);
      const { productId, quantity = 1 } = purchase ?? {};
      if (productId) await takeFromStock(tx, { streamId, id: productId }, quantity);
      const data = purchase
        ? { name: purchase.name, text: purchase.text, at: input.nowMs }
        : (event.data ?? null);
      const number = await recordEvent(tx, streamId, event.type, data);
      return { id: String(number), streamId, type: event.type };
    },
  ),
};

// The type of a custom event is any text, so the compiler cannot tell the schemas apart.
function purchaseIn({ type, data }: ProducerEvent): Purchase | null {
  return type === 'purchase' ? (data as Purchase) : null;
}
