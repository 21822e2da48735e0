import { MODERATED_MAX } from '../../../protocol/limits.ts';
import type { RestrictedViewer, Restriction } from '../../../protocol/moderation.ts';
import { DomainError } from '../../platform/errors.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { lockOwnStream, type OwnStream, ownStream } from '../streams/streams-sql.ts';
import { incrementRevision, LIFTED, REVISIONS_KEPT, recordChange } from './chat-state-sql.ts';

/** A mute or a ban of a viewer. */
export interface NewRestriction extends OwnStream {
  readonly viewer: string;
  readonly kind: Restriction;
  /** The viewer's display name; empty keeps the stored name. */
  readonly name: string;
  /** End of the restriction, Unix ms; null: for the whole show. */
  readonly until: number | null;
  /** The name of the member who decides; null: a program. */
  readonly by: string | null;
  readonly nowMs: number;
}

const COLUMNS = 'viewer, name, kind, until, member as "by", at';

export const restrictionProcedures = {
  /**
   * Mutes or bans a viewer, or replaces the restriction of that kind.
   * @throws DomainError `not-found` when the stream has no such viewer, `conflict` when it has too many
   *   restrictions
   */
  restrictViewer: writeProcedure(async (tx, input: NewRestriction): Promise<RestrictedViewer> => {
    const { streamId, viewer, kind } = input;
    await lockOwnStream(tx, streamId, input.producer);
    const seat = await findSeat(tx, streamId, viewer);
    await checkCapacity(tx, input);
    const revision = await incrementRevision(tx, streamId);
    const [row] = await tx.query<RestrictedViewer>(
      `insert into restricted_viewers (stream_id, viewer, kind, seat, name, until, member, at, revision)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict (stream_id, viewer, kind) do update set until = excluded.until,
         member = excluded.member, at = excluded.at, revision = excluded.revision,
         name = case excluded.name when '' then restricted_viewers.name else excluded.name end
       returning ${COLUMNS}`,
      [streamId, viewer, kind, seat, input.name, input.until, input.by, input.nowMs, revision],
    );
    await recordChange(tx, streamId);
    if (!row) throw new Error(`a restriction of stream ${streamId} is missing`);
    return { ...row };
  }),

  /** Unmutes or unbans a viewer. @throws DomainError `not-found` */
  liftRestriction: writeProcedure(
    async (tx, input: Pick<NewRestriction, 'streamId' | 'producer' | 'viewer' | 'kind'>) => {
      const { streamId, viewer, kind } = input;
      await lockOwnStream(tx, streamId, input.producer);
      await findSeat(tx, streamId, viewer);
      // The row stays, so that nodes read that it changed.
      const { affected } = await tx.query(
        `update restricted_viewers set until = ${LIFTED}, name = '', member = null,
           revision = (select revision + 1 from chat_rooms where stream_id = $1)
         where stream_id = $1 and viewer = $2 and kind = $3
           and (until is null or until <> ${LIFTED})`,
        [streamId, viewer, kind],
      );
      if (affected === 0) return;
      await incrementRevision(tx, streamId);
      await recordChange(tx, streamId);
    },
  ),

  /** The current restrictions of a stream, newest first. @throws DomainError `not-found` */
  listRestricted: readProcedure(async (tx, input: OwnStream & { nowMs: number }) => {
    await ownStream(tx, input.streamId, input.producer);
    const rows = await tx.query<RestrictedViewer>(
      `select ${COLUMNS} from restricted_viewers
       where stream_id = $1 and (until is null or until > $2) order by at desc, viewer, kind`,
      [input.streamId, input.nowMs],
    );
    return [...rows];
  }),
};

async function findSeat(tx: Tx, streamId: string, viewer: string): Promise<number> {
  const [row] = await tx.query<{ seat: number }>(
    'select seat from seats where stream_id = $1 and viewer = $2',
    [streamId, viewer],
  );
  if (!row) throw new DomainError('not-found', 'The stream has no such viewer.');
  return row.seat;
}

/** Deletes expired and earlier lifted restrictions. @throws DomainError `conflict` when the stream has the maximum */
async function checkCapacity(
  tx: Tx,
  { streamId, viewer, kind, nowMs }: Pick<NewRestriction, 'streamId' | 'viewer' | 'kind' | 'nowMs'>,
): Promise<void> {
  await tx.query(
    `delete from restricted_viewers where stream_id = $1 and until <= $2 and (until <> ${LIFTED}
       or revision < (select revision - ${REVISIONS_KEPT} from chat_rooms where stream_id = $1))`,
    [streamId, nowMs],
  );
  const [own] = await tx.query(
    `select seat from restricted_viewers where stream_id = $1 and viewer = $2 and kind = $3
       and (until is null or until > ${LIFTED})`,
    [streamId, viewer, kind],
  );
  if (own) return;
  // Each from an index: rows of 12,000 restrictions took the only writer of SQLite 10 ms.
  const [row] = await tx.query<{ active: number }>(
    `select (select count(*) from restricted_viewers where stream_id = $1 and until is null)
       + (select count(*) from restricted_viewers where stream_id = $1 and until > ${LIFTED}) as active`,
    [streamId],
  );
  if (Number(row?.active) >= MODERATED_MAX) {
    throw new DomainError('conflict', `A stream has at most ${MODERATED_MAX} restricted viewers.`);
  }
}
