import type { Result } from './result.ts';

export type PartialResult = Pick<Result, 'rows' | 'targets' | 'notes'>;

/** Runs the parts one after the other. A part that fails is reported in `failures`; the others continue. */
export async function runParts(
  head: Pick<Result, 'bench' | 'title'>,
  parts: Readonly<Record<string, () => Promise<PartialResult>>>,
): Promise<Result> {
  const found: PartialResult[] = [];
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
