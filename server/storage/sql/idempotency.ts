import { DomainError } from '../../platform/errors.ts';
import { type Idempotency, type Tx, writing } from './procedure.ts';

/** How long a key is remembered. */
export const IDEMPOTENCY_MS = 24 * 3600_000;

/**
 * Runs `work` unless this owner's key already did, in the same transaction as the work itself:
 * either both are recorded or neither is. A repeat gets the first output; one that comes while the
 * first is under way waits for it, and works itself when that one was refused.
 * @throws DomainError `conflict` when the key was used for another request.
 */
export async function runOnce<T>(tx: Tx, once: Idempotency, work: () => Promise<T>): Promise<T> {
  if (!(await takeKey(tx, once))) return firstOutput(tx, once);
  const output = await work();
  await tx.query('update idempotency_keys set output = $3 where owner = $1 and key = $2', [
    once.owner,
    once.key,
    JSON.stringify(output ?? null),
  ]);
  // Two go for each that comes, so that the table cannot grow faster than it is emptied.
  await forget(tx, once.nowMs, 2);
  return output;
}

/**
 * Takes the key before anything else is looked at, or one that is past its time. When somebody has
 * it, this waits for the end of their transaction, and keeps others from forgetting it.
 */
async function takeKey(tx: Tx, once: Idempotency): Promise<boolean> {
  const { affected } = await tx.query(
    `insert into idempotency_keys (owner, key, fingerprint, output, created)
     values ($1, $2, $3, 'null', $4)
     on conflict (owner, key) do update
     set fingerprint = excluded.fingerprint, output = excluded.output, created = excluded.created
     where idempotency_keys.created <= $5`,
    [once.owner, once.key, once.fingerprint, once.nowMs, once.nowMs - IDEMPOTENCY_MS],
  );
  return affected === 1;
}

async function firstOutput<T>(tx: Tx, { owner, key, fingerprint }: Idempotency): Promise<T> {
  const [first] = await tx.query<{ fingerprint: string; output: string }>(
    'select fingerprint, output from idempotency_keys where owner = $1 and key = $2',
    [owner, key],
  );
  if (!first) throw new Error('an idempotency key was forgotten while it was used');
  if (first.fingerprint !== fingerprint) {
    throw new DomainError(
      'conflict',
      'This Idempotency-Key was used for another request; send a new key.',
    );
  }
  return JSON.parse(first.output);
}

// Those that another transaction has locked are left to it: nobody waits in order to forget.
async function forget(tx: Tx, nowMs: number, limit: number): Promise<number> {
  const old = await tx.query<{ owner: string; key: string }>(
    `select owner, key from idempotency_keys where created <= $1
     order by created limit $2 ${tx.locks.claim}`,
    [nowMs - IDEMPOTENCY_MS, limit],
  );
  if (old.length === 0) return 0;
  const { affected } = await tx.query(
    `delete from idempotency_keys where (owner, key) in
     (select owner, key from ${tx.rows('$1', ['owner text', 'key text'])} old)`,
    [JSON.stringify(old.map(({ owner, key }) => [owner, key]))],
  );
  return affected;
}

export const idempotencyProcedures = {
  /** Forgets keys past their time; a bounded number at once, so that it never holds up a commit. */
  forgetIdempotencyKeys: writing((tx, { nowMs }: { nowMs: number }) => forget(tx, nowMs, 1_000)),
};
