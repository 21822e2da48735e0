import type { Tx } from './procedure.ts';

/** Kinds of rows that are numbered in the order they were made, which their times cannot tell. */
export type Numbered =
  | 'api-token'
  | 'stream'
  | 'quiz'
  | 'round'
  | 'webhook'
  | 'member'
  | 'link'
  | 'moderation';

/** As `nextNumbers`, of one row. */
export function nextNumber(tx: Tx, name: Numbered): Promise<number> {
  return nextNumbers(tx, name, 1);
}

/**
 * The next numbers of a kind of row, of which the first is returned. From here to the end of the transaction nobody else gets one, so
 * this comes right before the rows. Rows of one owner are in the order of their numbers only when
 * the owner's row was locked before.
 */
export async function nextNumbers(tx: Tx, name: Numbered, count: number): Promise<number> {
  const [row] = await tx.query<{ value: number }>(
    'update counters set value = value + $2 where name = $1 returning value',
    [name, count],
  );
  if (!row) throw new Error(`the counter ${name} is missing`);
  return Number(row.value) - count + 1;
}
