import type { NumberTable, Tx } from './procedure.ts';

/** `Tx.insertNew` for PostgreSQL: one statement for all rows. */
export async function insertNew(
  tx: Pick<Tx, 'query' | 'rows'>,
  { name, columns, keyColumns }: NumberTable,
  rows: readonly (readonly number[])[],
): Promise<boolean[]> {
  const firstByKey = new Map<string, readonly number[]>();
  for (const row of rows) {
    const key = keyOf(row, keyColumns);
    if (!firstByKey.has(key)) firstByKey.set(key, row);
  }
  if (firstByKey.size === 0) return [];
  // Sorted by key, so that two concurrent batches cannot deadlock.
  const sorted = [...firstByKey.values()].sort((a, b) => compareKeys(a, b, keyColumns));
  const names = columns.map((column) => column.split(' ')[0] as string);
  const key = names.slice(0, keyColumns);
  const added = await tx.query<Record<string, number>>(
    `insert into ${name} (${names}) select ${names} from ${tx.rows('$1', columns)} candidates
     on conflict do nothing returning ${key}`,
    [JSON.stringify(sorted)],
  );
  const isAdded = new Set<readonly number[] | undefined>(
    added.map((row) => firstByKey.get(key.map((column) => row[column]).join(' '))),
  );
  return rows.map((row) => isAdded.has(row));
}

function keyOf(row: readonly number[], keyColumns: number): string {
  return row.slice(0, keyColumns).join(' ');
}

function compareKeys(a: readonly number[], b: readonly number[], keyColumns: number): number {
  for (let column = 0; column < keyColumns; column++) {
    const difference = (a[column] as number) - (b[column] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
