import type { SqlValue, Tx } from './procedure.ts';

/** Counters. Each numbers one kind of row in order of creation, which timestamps cannot give. */
export type CounterName =
  | 'api-token'
  | 'stream'
  | 'quiz'
  | 'round'
  | 'webhook'
  | 'member'
  | 'link'
  | 'moderation';

/** Like `nextNumbers`, for one row. */
export function nextNumber(tx: Tx, name: CounterName): Promise<number> {
  return nextNumbers(tx, name, 1);
}

/**
 * Reserves the next `count` numbers of a counter, and returns the first. The counter is locked until the
 * end of the transaction, so call this immediately before the inserts. The numbers of one owner's rows
 * are in the order of creation only if the transaction has locked the owner's row before.
 */
export async function nextNumbers(tx: Tx, name: CounterName, count: number): Promise<number> {
  const [row] = await tx.query<{ value: number }>(
    'update counters set value = value + $2 where name = $1 returning value',
    [name, count],
  );
  if (!row) throw new Error(`the counter ${name} is missing`);
  return Number(row.value) - count + 1;
}

/** The number that a counter assigned last; 0 before the first. */
export async function lastNumber(tx: Tx, name: CounterName): Promise<number> {
  const [row] = await tx.query<{ value: number }>('select value from counters where name = $1', [
    name,
  ]);
  return Number(row?.value);
}

/** The number of rows. @param source what follows `from`, with its parameters */
export async function countRows(tx: Tx, source: string, params: SqlValue[]): Promise<number> {
  const [row] = await tx.query<{ n: number }>(`select count(*) as n from ${source}`, params);
  return Number(row?.n);
}
