import type { Tx } from './procedure.ts';

/** Kinds of rows that are numbered in the order they were made, which their times cannot tell. */
export type Numbered = 'api-token' | 'stream' | 'quiz' | 'round';

/** The next number of a kind of row; serialised by the row's own lock. */
export async function nextNumber(tx: Tx, name: Numbered): Promise<number> {
  const [row] = await tx.query<{ value: number }>(
    'update counters set value = value + 1 where name = $1 returning value',
    [name],
  );
  if (!row) throw new Error(`the counter ${name} is missing`);
  return Number(row.value);
}
