import type { Result } from './result.ts';

/** Merges several comparisons into one result; row names begin with the name of their part. */
export function mergeResults(
  head: Pick<Result, 'bench' | 'title' | 'notes'>,
  parts: Readonly<Record<string, Result>>,
): Result {
  const all = Object.entries(parts);
  return {
    ...head,
    rows: all.flatMap(([part, { rows }]) =>
      rows.map((row) => ({ ...row, name: `${part}: ${row.name}` })),
    ),
    targets: all.flatMap(([part, { targets }]) =>
      targets.map((target) => ({ ...target, name: `${part}: ${target.name}` })),
    ),
  };
}
