import type { Result, Row } from './result.ts';
import type { Spread } from './statistics.ts';
import { formatNumber } from './table.ts';

const WIDTH = 720;
const LETTER_WIDTH = 7.4;
const GAP = 10;
const FIGURE_WIDTH = 90;
const BAR_HEIGHT = 22;
const ROW_HEIGHT = 34;
const TOP = 64;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2937 }
  .title { font-size: 15px; font-weight: 600 }
  .unit { fill: #6b7280 } .spread { stroke: #111827; stroke-width: 1.5 }
  .ours { fill: #6366f1 } .other { fill: #c7d2fe }
  .ground { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb } .unit { fill: #9ca3af } .spread { stroke: #f9fafb }
    .ours { fill: #818cf8 } .other { fill: #3730a3 } .ground { fill: #111827 }
  }`;

/**
 * An SVG bar chart of the first figure of the first row, for all rows that have it, each with a line from
 * minimum to maximum.
 */
export function chartOf({ bench, title, rows }: Result): string {
  const unit = Object.keys(rows[0]?.figures ?? {})[0] ?? '';
  const bars = rows.flatMap((row) =>
    row.figures[unit] ? [{ row, spread: row.figures[unit] }] : [],
  );
  const most = Math.max(...bars.map(({ spread }) => spread.most), Number.MIN_VALUE);
  const longest = Math.max(...bars.map(({ row }) => row.name.length), 0);
  const left = Math.round(GAP * 2 + longest * LETTER_WIDTH);
  const scale = (WIDTH - left - FIGURE_WIDTH) / most;
  const height = TOP + bars.length * ROW_HEIGHT + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escaped(`${bench}: ${title}`)}</title><style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="12" y="26">${escaped(title)}</text>`,
    `<text class="unit" x="12" y="46">${escaped(unit)}, median of rounds; the line is from the least to the most</text>`,
    ...bars.map(({ row, spread }, at) => barOf(row, spread, { at, left, scale })),
    '</svg>\n',
  ].join('\n');
}

/** Index of the bar, start of all bars, and length of the value 1. */
interface BarPosition {
  readonly at: number;
  readonly left: number;
  readonly scale: number;
}

function barOf(
  { name, isOurs = false }: Row,
  { median, least, most }: Spread,
  { at, left, scale }: BarPosition,
): string {
  const y = TOP + at * ROW_HEIGHT;
  const middle = y + BAR_HEIGHT / 2;
  const x = (value: number) => (left + value * scale).toFixed(1);
  return [
    `<text x="${left - GAP}" y="${middle + 5}" text-anchor="end">${escaped(name)}</text>`,
    `<rect class="${isOurs ? 'ours' : 'other'}" x="${left}" y="${y}" width="${(median * scale).toFixed(1)}" height="${BAR_HEIGHT}" rx="3"/>`,
    ...(most > least ? [spreadLine(x(least), x(most), middle)] : []),
    `<text x="${Number(x(most)) + GAP}" y="${middle + 5}">${formatNumber(median)}</text>`,
  ].join('');
}

const CAP = 4;

const spreadLine = (from: string, to: string, y: number) =>
  `<path class="spread" fill="none" d="M${from} ${y - CAP}v${2 * CAP}m0 ${-CAP}H${to}m0 ${-CAP}v${2 * CAP}"/>`;

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
