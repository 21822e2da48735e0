import type { Tx } from './procedure.ts';

/** Kinds of rows that are numbered in the order they were made, which their times cannot tell. */
export type Numbered = 'api-token' | 'stream' | 'quiz' | 'round' | 'webhook' | 'member' | 'link';

/**
 * The next number of a kind of row. From here to the end of the transaction nobody else gets one, so
 * this comes right before the row. Rows of one owner are in the order of their numbers only when
 * the owner's row was locked before.
 */
export async function nextNumber(tx: Tx, name: Numbered): Promise<number> {
  const [row] = await tx.query<{ value: number }>(
    'update counters set value = value + 1 where name = $1 returning value',
    [name],
  );
  if (!row) throw new Error(`the counter ${name} is missing`);
  return Number(row.value);
}
