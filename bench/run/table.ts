import type { Result, Row, Target } from './result.ts';
import { verdictOf } from './result.ts';
import type { Spread } from './statistics.ts';

const THOUSAND = 1_000;
const VERDICTS = { aim: 'aim reached', reached: 'reached', missed: 'NOT REACHED' };

/** A result as lines of Markdown: for a terminal and for docs/performance.md alike. */
export function tableOf({ bench, title, rows, targets, notes }: Result): string {
  const names = [...new Set(rows.flatMap(({ figures }) => Object.keys(figures)))];
  const lines = [
    `### ${bench}: ${title}`,
    '',
    ...markdown(
      ['', ...names],
      rows.map((row) => [row.name, ...names.map((name) => cell(row, name))]),
    ),
    ...(targets.length > 0 ? ['', ...targetLines(targets)] : []),
    ...notes.flatMap((note) => ['', note]),
  ];
  return lines.join('\n');
}

function targetLines(targets: readonly Target[]): string[] {
  const rows = targets.map((target) => [
    target.name,
    text(target.value),
    target.atLeast === undefined
      ? `at most ${number(target.atMost ?? 0)}`
      : `at least ${number(target.atLeast)}`,
    number(target.aim),
    VERDICTS[verdictOf(target)],
  ]);
  return markdown(['target', 'measured', 'limit', 'aim', ''], rows);
}

function cell({ figures }: Row, name: string): string {
  const spread = figures[name];
  return spread ? text(spread) : '';
}

const text = ({ median, least, most }: Spread) =>
  least === most ? number(median) : `${number(median)} (${number(least)}–${number(most)})`;

/** Three digits that count, or all before the point. */
export function number(value: number): string {
  if (Math.abs(value) >= THOUSAND) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

/** A table, the first column to the left and the others to the right. */
export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
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
