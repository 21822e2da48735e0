import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCHES } from '../benches.ts';
import { sourcesOf } from '../capacity/costs.ts';
import { capacityLines } from '../capacity/tables.ts';
import { filled, tablesOf } from './page.ts';
import { MissingFigureError, type Results, readResults } from './results.ts';

export const PAGE = join(import.meta.dir, '../../docs/performance/tables.md');

/** The page with the results of this folder. @throws MissingFigureError */
export function pageWith(folder: string): string {
  const results = readResults(folder);
  const order = BENCHES.map(({ name }) => name);
  const page = filled(readFileSync(PAGE, 'utf8'), 'tables', tablesOf(results, order));
  return filled(page, 'capacity', capacityOf(results));
}

/** Writes the page. @throws MissingFigureError */
export function fillPage(folder: string): void {
  writeFileSync(PAGE, pageWith(folder));
}

/** Omits results of failed benchmarks. */
function capacityOf(results: Results): string[] {
  try {
    return capacityLines(sourcesOf(results));
  } catch (error) {
    if (!(error instanceof MissingFigureError)) throw error;
    return [`Not told yet: ${error.message} in \`docs/performance/\`.`];
  }
}
