import type { StoredResult } from '../run/result.ts';
import { tableOf } from '../run/table.ts';
import type { Results } from './results.ts';
import { reachLines } from './targets.ts';

const NONE = 'There are no results in `docs/performance/` yet: `npm run bench:page` makes them.';

/**
 * Replaces the text of a page between `<!-- NAME -->` and `<!-- /NAME -->`.
 * @throws Error unless the page contains the markers exactly once
 */
export function filled(page: string, name: string, lines: readonly string[]): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [before = '', rest, more] = page.split(start);
  const [, behind, other] = rest?.split(end) ?? [];
  if (behind === undefined || more !== undefined || other !== undefined) {
    throw new Error(`the page needs ${start} and ${end}, once`);
  }
  return [before, start, '\n\n', ...lines.map((line) => `${line}\n`), '\n', end, behind].join('');
}

/**
 * All results as Markdown: the targets, and the table of each benchmark.
 * @param order names of the benchmarks
 * @throws MissingFigureError when a result lacks a target of the table
 */
export function tablesOf(results: Results, order: readonly string[]): string[] {
  const all = order.flatMap((bench) => results.get(bench) ?? []);
  if (all.length === 0) return [NONE];
  const sections = all.flatMap((result) => {
    const { bench, title } = result;
    const chart = `![${bench}: ${title}](${bench}.svg)`;
    return ['', tableOf(result, [madeLine(result), chart])];
  });
  return ['### Reach', '', ...reachLines(results), ...sections];
}

function madeLine({ madeAt, machine, rounds, seconds, bench }: StoredResult): string {
  const { processor, cores, memoryGB, bun, system } = machine;
  const when = `${madeAt.slice(0, 10)} ${madeAt.slice(11, 16)} UTC`;
  return `\`npm run bench -- ${bench} --rounds ${rounds} --seconds ${seconds}\`, ${when}: ${processor}, ${cores} cores, ${memoryGB} GB, Bun ${bun}, ${system}.`;
}
