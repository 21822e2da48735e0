import type { Result, Row, Target } from './result.ts';
import { verdictOf } from './result.ts';
import type { Spread } from './statistics.ts';

const THOUSAND = 1_000;
export const VERDICTS = { aim: 'aim reached', reached: 'reached', missed: 'NOT REACHED' };

/**
 * A result as Markdown, for the terminal and for docs/performance/tables.md.
 * @param linesBelowTitle such as the command that measured it
 */
export function tableOf(
  { bench, title, rows, targets, notes, failures = [] }: Result,
  linesBelowTitle: readonly string[] = [],
): string {
  const names = [...new Set(rows.flatMap(({ figures }) => Object.keys(figures)))];
  const lines = [
    `### ${bench}: ${title}`,
    '',
    ...linesBelowTitle.flatMap((line) => [line, '']),
    ...markdownTable(
      ['', ...names],
      rows.map((row) => [row.name, ...names.map((name) => cell(row, name))]),
    ),
    ...(targets.length > 0 ? ['', ...targetLines(targets)] : []),
    ...notes.flatMap((note) => ['', note]),
    ...failures.flatMap((failure) => ['', `FAILED: ${failure}`]),
  ];
  return lines.join('\n');
}

function targetLines(targets: readonly Target[]): string[] {
  const rows = targets.map((target) => [
    target.name,
    spreadText(target.value),
    limitOf(target),
    formatNumber(target.aim),
    VERDICTS[verdictOf(target)],
  ]);
  return markdownTable(['target', 'measured', 'limit', 'aim', ''], rows);
}

/** The limit of a target, such as `at least 0.85` or `at most 250`. */
export function limitOf({ atLeast, atMost = 0 }: Target): string {
  return atLeast === undefined
    ? `at most ${formatNumber(atMost)}`
    : `at least ${formatNumber(atLeast)}`;
}

function cell({ figures }: Row, name: string): string {
  const spread = figures[name];
  return spread ? spreadText(spread) : '';
}

/** A median, followed by the minimum and maximum where they differ. */
export const spreadText = ({ median, least, most }: Spread) =>
  least === most
    ? formatNumber(median)
    : `${formatNumber(median)} (${formatNumber(least)}–${formatNumber(most)})`;

/** Three significant digits, or all digits before the point. */
export function formatNumber(value: number): string {
  if (Math.abs(value) >= THOUSAND) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

/** A table whose first column is left-aligned, and the others right-aligned. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const all = [head, ...rows];
  const widths = head.map((_, column) =>
    Math.max(3, ...all.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((text, at) => pad(text, widths[at] ?? 0, at)).join(' | ')} |`;
  const rule = `| ${widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`;
  return [line(head), rule, ...rows.map(line)];
}

const pad = (text: string, width: number, column: number) =>
  column === 0 ? text.padEnd(width) : text.padStart(width);
