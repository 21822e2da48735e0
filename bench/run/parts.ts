import type { Result } from './result.ts';

/** What a part of a bench found. */
export type Part = Pick<Result, 'rows' | 'targets' | 'notes'>;

/** Does them one after the other. What one of them lacks does not take from what others found: it is told. */
export async function inParts(
  head: Pick<Result, 'bench' | 'title'>,
  parts: Readonly<Record<string, () => Promise<Part>>>,
): Promise<Result> {
  const found: Part[] = [];
  const failures: string[] = [];
  for (const [name, measure] of Object.entries(parts)) {
    try {
      found.push(await measure());
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  return {
    ...head,
    rows: found.flatMap(({ rows }) => rows),
    targets: found.flatMap(({ targets }) => targets),
    notes: found.flatMap(({ notes }) => notes),
    failures,
  };
}
