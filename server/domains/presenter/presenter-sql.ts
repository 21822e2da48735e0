import { reading, writing } from '../../storage/sql/procedure.ts';
import { lockOwnStream, ownStream } from '../streams/streams-sql.ts';

interface Own {
  readonly id: string;
  readonly producer: string;
}

/** The stream that a presenter key opens, and whose it is. */
export interface PresentedStream {
  readonly streamId: string;
  readonly producer: string;
  readonly hash: string;
}

export const presenterProcedures = {
  /**
   * Gives the stream another presenter key; the one before opens nothing from then on.
   * @returns the hash that is kept: of a repeat, that of the first
   * @throws Refusal `not-found`
   */
  replacePresenterKey: writing(
    async (tx, input: Own & { hash: string; nowMs: number }): Promise<{ hash: string }> => {
      const { id, producer, hash, nowMs } = input;
      await lockOwnStream(tx, id, producer);
      await tx.query(
        `insert into presenter_keys (stream_id, hash, created) values ($1, $2, $3)
         on conflict (stream_id) do update set hash = excluded.hash, created = excluded.created`,
        [id, hash, nowMs],
      );
      return { hash };
    },
  ),

  /** @throws Refusal `not-found` */
  readPresenterKey: reading(
    async (tx, { id, producer }: Own): Promise<{ created: number | null }> => {
      await ownStream(tx, id, producer);
      const [row] = await tx.query<{ created: number }>(
        'select created from presenter_keys where stream_id = $1',
        [id],
      );
      return { created: row ? Number(row.created) : null };
    },
  ),

  /** @throws Refusal `not-found` */
  withdrawPresenterKey: writing(async (tx, { id, producer }: Own): Promise<void> => {
    await lockOwnStream(tx, id, producer);
    await tx.query('delete from presenter_keys where stream_id = $1', [id]);
  }),

  /** The stream of a key, by its hash; null: there is no such key. */
  findPresented: reading(
    async (tx, { hash }: { hash: string }): Promise<PresentedStream | null> => {
      const [row] = await tx.query<PresentedStream>(
        `select k.stream_id as "streamId", s.producer, k.hash from presenter_keys k
       join streams s on s.id = k.stream_id where k.hash = $1`,
        [hash],
      );
      return row ?? null;
    },
  ),
};
