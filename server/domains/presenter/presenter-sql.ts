import { readProcedure, writeProcedure } from '../../storage/sql/procedure.ts';
import { lockOwnStream, type OwnId, ownStream } from '../streams/streams-sql.ts';

/** The stream that a presenter key opens, with its owner. */
export interface PresentedStream {
  readonly streamId: string;
  readonly producer: string;
  readonly hash: string;
}

export const presenterProcedures = {
  /**
   * Replaces the stream's presenter key; the previous key is no longer valid.
   * @returns the stored hash: an idempotent repeat gets the first call's
   * @throws DomainError `not-found`
   */
  replacePresenterKey: writeProcedure(
    async (tx, { id, producer, hash, nowMs }: OwnId & { hash: string; nowMs: number }) => {
      await lockOwnStream(tx, id, producer);
      await tx.query(
        `insert into presenter_keys (stream_id, hash, created) values ($1, $2, $3)
         on conflict (stream_id) do update set hash = excluded.hash, created = excluded.created`,
        [id, hash, nowMs],
      );
      return { hash };
    },
  ),

  /** @throws DomainError `not-found` */
  readPresenterKey: readProcedure(
    async (tx, { id, producer }: OwnId): Promise<{ created: number | null }> => {
      await ownStream(tx, id, producer);
      const [row] = await tx.query<{ created: number }>(
        'select created from presenter_keys where stream_id = $1',
        [id],
      );
      return { created: row ? Number(row.created) : null };
    },
  ),

  /** @throws DomainError `not-found` */
  withdrawPresenterKey: writeProcedure(async (tx, { id, producer }: OwnId): Promise<void> => {
    await lockOwnStream(tx, id, producer);
    await tx.query('delete from presenter_keys where stream_id = $1', [id]);
  }),

  /** Finds the stream of a key by the key's hash; null for an unknown key. */
  findPresented: readProcedure(
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
