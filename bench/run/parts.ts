import type { Result } from './result.ts';

export type PartialResult = Pick<Result, 'rows' | 'targets' | 'notes'>;

/** Runs the parts one after the other. A part that fails is reported in `failures`; the others continue. */
export async function runParts(
  head: Pick<Result, 'bench' | 'title'>,
  parts: Readonly<Record<string, () => Promise<PartialResult>>>,
): Promise<Result> {
  const results: PartialResult[] = [];
  const failures: string[] = [];
  for (const [name, measure] of Object.entries(parts)) {
    try {
      results.push(await measure());
    } catch (error) {
      failures.push(`${name}: ${(error as Error).message}`);
    }
  }
  return {
    ...head,
    rows: results.flatMap(({ rows }) => rows),
    targets: results.flatMap(({ targets }) => targets),
    notes: results.flatMap(({ notes }) => notes),
    failures,
  };
}
