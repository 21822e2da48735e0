import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCHES } from '../benches.ts';
import { sourcesOf } from '../capacity/costs.ts';
import { capacityLines } from '../capacity/tables.ts';
import type { StoredResult } from '../run/result.ts';
import { tableOf } from '../run/table.ts';
import { MissingFigureError, RESULTS_FOLDER, type Results, readResults } from './results.ts';
import { targetTable } from './targets.ts';

export const PAGE = join(RESULTS_FOLDER, 'tables.md');
const NO_RESULTS =
  'There are no results in `docs/performance/` yet: `npm run bench:page` makes them.';

/** Writes docs/performance/tables.md. `npm run bench:tables` does it without measuring. */
export function fillPage(): void {
  writeFileSync(PAGE, pageWith(RESULTS_FOLDER));
}

/** The current page with the results of this folder in place of its old ones. @throws MissingFigureError */
export function pageWith(folder: string): string {
  const results = readResults(folder);
  const order = BENCHES.map(({ name }) => name);
  const page = filled(readFileSync(PAGE, 'utf8'), 'tables', tablesOf(results, order));
  return filled(page, 'capacity', capacityOf(results));
}

/** The tables of capacity, or a message when a figure of the model is missing. */
function capacityOf(results: Results): string[] {
  try {
    return capacityLines(sourcesOf(results));
  } catch (error) {
    if (!(error instanceof MissingFigureError)) throw error;
    return [`Not available yet: ${error.message} in \`docs/performance/\`.`];
  }
}

/**
 * Replaces the text of a page between `<!-- NAME -->` and `<!-- /NAME -->`.
 * @throws Error unless the page contains the markers exactly once
 */
export function filled(page: string, name: string, lines: readonly string[]): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before = '', rest, more] = page.split(start);
  const [, after, other] = rest?.split(end) ?? [];
  if (after === undefined || more !== undefined || other !== undefined) {
    throw new Error(`the page needs ${start} and ${end}, once`);
  }
  return [before, start, '\n\n', ...lines.map((line) => `${line}\n`), '\n', end, after].join('');
}

/**
 * All results as Markdown: the targets, and the table of each benchmark.
 * @param order names of the benchmarks
 * @throws MissingFigureError when a result lacks a target of the table
 */
export function tablesOf(results: Results, order: readonly string[]): string[] {
  const all = order.flatMap((bench) => results.get(bench) ?? []);
  if (all.length === 0) return [NO_RESULTS];
  const sections = all.flatMap((result) => {
    const { bench, title } = result;
    const chart = `![${bench}: ${title}](${bench}.svg)`;
    return ['', tableOf(result, [provenanceLine(result), chart])];
  });
  return ['### Reach', '', ...targetTable(results), ...sections];
}

function provenanceLine({ madeAt, machine, rounds, seconds, bench }: StoredResult): string {
  const { processor, cores, memoryGB, bun, system } = machine;
  const when = `${madeAt.slice(0, 10)} ${madeAt.slice(11, 16)} UTC`;
  return `\`npm run bench -- ${bench} --rounds ${rounds} --seconds ${seconds}\`, ${when}: ${processor}, ${cores} cores, ${memoryGB} GB, Bun ${bun}, ${system}.`;
}

if (import.meta.main) fillPage();
