import { SEATS_MAX } from '../../protocol/limits.ts';
import { Refusal } from '../refusal.ts';
import { reading, writing } from '../sql/procedure.ts';
import { planRotation, type SigningKey } from './signing-keys.ts';

const KEY_COLUMNS =
  'kid, private_jwk as "privateJwk", created, active_from as "activeFrom", retires';

export const tokenProcedures = {
  /**
   * The seat of a viewer in a stream: the next free integer the first time, the same ever after.
   * @throws Refusal `not-found` when there is no such stream.
   */
  assignSeat: writing(
    async (tx, input: { streamId: string; viewer: string }): Promise<{ seat: number }> => {
      const [known] = await tx.query<{ seat: number }>(
        'select seat from seats where stream_id = $1 and viewer = $2',
        [input.streamId, input.viewer],
      );
      if (known) return { seat: known.seat };
      const [next] = await tx.query<{ seat: number }>(
        'update streams set next_seat = next_seat + 1 where id = $1 returning next_seat - 1 as seat',
        [input.streamId],
      );
      if (!next) throw new Refusal('not-found', 'There is no stream with this stream_id.');
      if (next.seat >= SEATS_MAX) throw new Refusal('conflict', 'The stream has no seat left.');
      await tx.query('insert into seats (stream_id, viewer, seat) values ($1, $2, $3)', [
        input.streamId,
        input.viewer,
        next.seat,
      ]);
      return { seat: next.seat };
    },
  ),

  /** A secret of this record, made with the offered value the first time it is asked for. */
  keepSecret: writing(
    async (tx, { name, offered }: { name: string; offered: string }): Promise<string> => {
      await tx.query(
        'insert into secrets (name, value) values ($1, $2) on conflict (name) do nothing',
        [name, offered],
      );
      const [row] = await tx.query<{ value: string }>('select value from secrets where name = $1', [
        name,
      ]);
      return row?.value ?? offered;
    },
  ),

  listSigningKeys: reading(async (tx): Promise<SigningKey[]> => {
    const rows = await tx.query<SigningKey>(
      `select ${KEY_COLUMNS} from signing_keys order by active_from`,
    );
    return [...rows];
  }),

  /**
   * Takes the offered key in when a new one is due (or `force`d), and forgets keys that no token
   * can need any more. Two processes that ask at once rotate once.
   */
  rotateSigningKeys: writing(
    async (
      tx,
      input: { offered: { kid: string; privateJwk: string }; force: boolean; nowMs: number },
    ): Promise<SigningKey[]> => {
      const keys = await tx.query<SigningKey>(
        `select ${KEY_COLUMNS} from signing_keys order by active_from`,
      );
      const plan = planRotation([...keys], input.offered, input.nowMs, input.force);
      for (const { kid } of plan.forgotten) {
        await tx.query('delete from signing_keys where kid = $1', [kid]);
      }
      for (const key of plan.kept) {
        await tx.query(
          `insert into signing_keys (kid, private_jwk, created, active_from, retires)
           values ($1, $2, $3, $4, $5)
           on conflict (kid) do update set retires = excluded.retires`,
          [key.kid, key.privateJwk, key.created, key.activeFrom, key.retires],
        );
      }
      return plan.kept;
    },
  ),
};
