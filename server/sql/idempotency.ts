import { Refusal } from '../refusal.ts';
import { type Idempotency, type Tx, writing } from './procedure.ts';

/** How long a key is remembered. */
export const IDEMPOTENCY_MS = 24 * 3600_000;

/**
 * Runs `work` unless this owner's key already did, in the same transaction as the work itself:
 * either both are recorded or neither is. A repeat gets the first output.
 * @throws Refusal `conflict` when the key was used for another request.
 */
export async function runOnce<T>(tx: Tx, once: Idempotency, work: () => Promise<T>): Promise<T> {
  const [seen] = await tx.query<{ fingerprint: string; output: string }>(
    'select fingerprint, output from idempotency_keys where owner = $1 and key = $2 and created > $3',
    [once.owner, once.key, once.nowMs - IDEMPOTENCY_MS],
  );
  if (seen) {
    if (seen.fingerprint !== once.fingerprint) {
      throw new Refusal(
        'conflict',
        'This Idempotency-Key was used for another request; send a new key.',
      );
    }
    return JSON.parse(seen.output);
  }
  const output = await work();
  // Two go for each that comes, so that the table cannot grow faster than it is emptied.
  await forget(tx, once.nowMs, 2);
  await tx.query(
    `insert into idempotency_keys (owner, key, fingerprint, output, created)
     values ($1, $2, $3, $4, $5)
     on conflict (owner, key) do update
     set fingerprint = excluded.fingerprint, output = excluded.output, created = excluded.created`,
    [once.owner, once.key, once.fingerprint, JSON.stringify(output ?? null), once.nowMs],
  );
  return output;
}

async function forget(tx: Tx, nowMs: number, limit: number): Promise<number> {
  const { affected } = await tx.query(
    `delete from idempotency_keys where (owner, key) in
     (select owner, key from idempotency_keys where created <= $1 order by created limit $2)`,
    [nowMs - IDEMPOTENCY_MS, limit],
  );
  return affected;
}

export const idempotencyProcedures = {
  /** Forgets keys past their time; a bounded number at once, so that it never holds up a commit. */
  forgetIdempotencyKeys: writing((tx, { nowMs }: { nowMs: number }) => forget(tx, nowMs, 1_000)),
};
