import type { NumberTable, Tx } from './procedure.ts';

/** `Tx.addNew` in PostgreSQL: one statement, whatever number of rows. */
export async function addNew(
  tx: Pick<Tx, 'query' | 'rows'>,
  { name, columns, keyColumns }: NumberTable,
  rows: readonly (readonly number[])[],
): Promise<boolean[]> {
  const firsts = new Map<string, readonly number[]>();
  for (const row of rows) {
    const key = keyOf(row, keyColumns);
    if (!firsts.has(key)) firsts.set(key, row);
  }
  if (firsts.size === 0) return [];
  // In the order of the key, so that of two batches that meet none waits for the other in turn.
  const inOrder = [...firsts.values()].sort((a, b) => inOrderOfKey(a, b, keyColumns));
  const names = columns.map((column) => column.split(' ')[0] as string);
  const key = names.slice(0, keyColumns);
  const added = await tx.query<Record<string, number>>(
    `insert into ${name} (${names}) select ${names} from ${tx.rows('$1', columns)} arrived
     on conflict do nothing returning ${key}`,
    [JSON.stringify(inOrder)],
  );
  const isAdded = new Set<readonly number[] | undefined>(
    added.map((row) => firsts.get(key.map((column) => row[column]).join(' '))),
  );
  return rows.map((row) => isAdded.has(row));
}

function keyOf(row: readonly number[], keyColumns: number): string {
  return row.slice(0, keyColumns).join(' ');
}

function inOrderOfKey(a: readonly number[], b: readonly number[], keyColumns: number): number {
  for (let column = 0; column < keyColumns; column++) {
    const difference = (a[column] as number) - (b[column] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}
