import { DomainError } from '../../platform/errors.ts';
import { type Idempotency, readProcedure, type Tx, writeProcedure } from './procedure.ts';

export const IDEMPOTENCY_TTL_MS = 24 * 3600_000;
/**
 * A longer output is not stored: that of an order of 50 bytes may be a whole rundown of 14 MB, and some
 * requests a second would fill the disk of all accounts.
 */
export const STORED_OUTPUT_CHARS_MAX = 2 * 1024 ** 2;
/** Longer outputs count for their account; the index `idempotency_keys_long` has the same number. */
const OUTPUT_CHARS_COUNTED = 8192;
/** Most characters of the counted outputs of an account. The newest are stored: clients repeat soon. */
export const ACCOUNT_OUTPUT_CHARS_MAX = 16 * 1024 ** 2;
/** Stored in place of a longer output, and of one that was dropped. */
const NOT_STORED = '';

/**
 * Runs `work` unless the owner used this key before. The key and the work are in one transaction: both
 * are committed, or neither is. A repeated request gets the stored output, or `conflict` when it is not stored. A
 * request that arrives while the first one runs waits for it, and runs `work` itself if the first one failed.
 * @throws DomainError `conflict` when the key was used for another request
 */
export async function runOnce<T>(
  tx: Tx,
  idempotency: Idempotency,
  work: () => Promise<T>,
): Promise<T> {
  if (!(await claimKey(tx, idempotency))) return readStoredOutput(tx, idempotency);
  const output = await work();
  const { owner, key, nowMs } = idempotency;
  const text = JSON.stringify(output ?? null);
  const stored = text.length > STORED_OUTPUT_CHARS_MAX ? NOT_STORED : text;
  await tx.query(
    'update idempotency_keys set output = $3, output_chars = $4 where owner = $1 and key = $2',
    [owner, key, stored, stored.length],
  );
  if (stored.length > OUTPUT_CHARS_COUNTED) await dropOldOutputs(tx, owner);
  // Each insert deletes up to two expired keys, so that the table cannot grow without bound.
  await deleteExpired(tx, nowMs, 2);
  return output;
}

/**
 * Claims the key, or one that has expired, before any other statement. If another transaction holds
 * it, this waits for its end. The lock also protects the key from `deleteExpired`.
 * @returns false when the key is in use
 */
async function claimKey(tx: Tx, idempotency: Idempotency): Promise<boolean> {
  const { owner, key, fingerprint, nowMs } = idempotency;
  const { affected } = await tx.query(
    `insert into idempotency_keys (owner, key, fingerprint, output, created)
     values ($1, $2, $3, 'null', $4)
     on conflict (owner, key) do update
     set fingerprint = excluded.fingerprint, output = excluded.output, output_chars = 0,
       created = excluded.created
     where idempotency_keys.created <= $5`,
    [owner, key, fingerprint, nowMs, nowMs - IDEMPOTENCY_TTL_MS],
  );
  return affected === 1;
}

async function readStoredOutput<T>(tx: Tx, { owner, key, fingerprint }: Idempotency): Promise<T> {
  const [first] = await tx.query<{ fingerprint: string; output: string }>(
    'select fingerprint, output from idempotency_keys where owner = $1 and key = $2',
    [owner, key],
  );
  if (!first) throw new Error('an idempotency key was deleted while it was in use');
  if (first.fingerprint !== fingerprint) {
    throw new DomainError(
      'conflict',
      'This Idempotency-Key was used for another request; send a new key.',
    );
  }
  if (first.output === NOT_STORED) {
    throw new DomainError(
      'conflict',
      'The request with this Idempotency-Key was carried out; its response is no longer stored.',
    );
  }
  return JSON.parse(first.output);
}

/** Drops the oldest long outputs of an account beyond its budget; skips locked rows. */
async function dropOldOutputs(tx: Tx, owner: string): Promise<void> {
  const dropped = await tx.query<{ key: string }>(
    `select key from idempotency_keys where owner = $1 and key in (
       select key from (
         select key, sum(output_chars) over (order by created desc, key) as total
         from idempotency_keys where owner = $1 and output_chars > ${OUTPUT_CHARS_COUNTED}
       ) newest where total > $2
     ) ${tx.locks.claim}`,
    [owner, ACCOUNT_OUTPUT_CHARS_MAX],
  );
  if (dropped.length === 0) return;
  await tx.query(
    `update idempotency_keys set output = $3, output_chars = 0
     where owner = $1 and key in (select key from ${tx.rows('$2', ['key text'])} dropped)`,
    [owner, JSON.stringify(dropped.map(({ key }) => [key])), NOT_STORED],
  );
}

/** Deletes up to `limit` expired keys; skips locked rows, so that it never waits. @returns how many */
async function deleteExpired(tx: Tx, nowMs: number, limit: number): Promise<number> {
  const expired = await tx.query<{ owner: string; key: string }>(
    `select owner, key from idempotency_keys where created <= $1
     order by created limit $2 ${tx.locks.claim}`,
    [nowMs - IDEMPOTENCY_TTL_MS, limit],
  );
  if (expired.length === 0) return 0;
  const { affected } = await tx.query(
    `delete from idempotency_keys where (owner, key) in
     (select owner, key from ${tx.rows('$1', ['owner text', 'key text'])} old)`,
    [JSON.stringify(expired.map(({ owner, key }) => [owner, key]))],
  );
  return affected;
}

export const idempotencyProcedures = {
  /** Whether a request with this key was carried out, so that a write with it repeats no work. */
  isIdempotencyKeyUsed: readProcedure(
    async (tx, { owner, key, nowMs }: Idempotency): Promise<boolean> => {
      const used = await tx.query(
        'select 1 from idempotency_keys where owner = $1 and key = $2 and created > $3',
        [owner, key, nowMs - IDEMPOTENCY_TTL_MS],
      );
      return used.length > 0;
    },
  ),

  /** Deletes expired keys; a bounded number at a time, so that commits are not delayed. */
  deleteExpiredIdempotencyKeys: writeProcedure((tx, { nowMs }: { nowMs: number }) =>
    deleteExpired(tx, nowMs, 1_000),
  ),
};
