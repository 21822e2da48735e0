import type { Result, Row } from './result.ts';
import type { Spread } from './statistics.ts';
import { number } from './table.ts';

const WIDTH = 720;
const NAME_WIDTH = 220;
const FIGURE_WIDTH = 90;
const BAR_HEIGHT = 22;
const ROW_HEIGHT = 34;
const TOP = 64;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2937 }
  .title { font-size: 15px; font-weight: 600 }
  .unit, .spread { fill: #6b7280; stroke: #6b7280 } .unit { stroke: none }
  .own { fill: #4f46e5 } .other { fill: #a5b4fc }
  .ground { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb } .unit, .spread { fill: #9ca3af; stroke: #9ca3af } .unit { stroke: none }
    .own { fill: #818cf8 } .other { fill: #4338ca } .ground { fill: #111827 }
  }`;

/** The first figure of each row as bars, with a line from the least to the most; an SVG file. */
export function chartOf({ bench, title, rows }: Result): string {
  const unit = Object.keys(rows[0]?.figures ?? {})[0] ?? '';
  const bars = rows.flatMap((row) =>
    row.figures[unit] ? [{ row, spread: row.figures[unit] }] : [],
  );
  const most = Math.max(...bars.map(({ spread }) => spread.most), Number.MIN_VALUE);
  const scale = (WIDTH - NAME_WIDTH - FIGURE_WIDTH) / most;
  const height = TOP + bars.length * ROW_HEIGHT + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escaped(`${bench}: ${title}`)}</title><style>${STYLE}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="12" y="26">${escaped(title)}</text>`,
    `<text class="unit" x="12" y="46">${escaped(unit)}, median of rounds; the line is from the least to the most</text>`,
    ...bars.map(({ row, spread }, at) => barOf(row, spread, at, scale)),
    '</svg>\n',
  ].join('\n');
}

function barOf({ name }: Row, { median, least, most }: Spread, at: number, scale: number): string {
  const y = TOP + at * ROW_HEIGHT;
  const middle = y + BAR_HEIGHT / 2;
  const x = (value: number) => (NAME_WIDTH + value * scale).toFixed(1);
  return [
    `<text x="${NAME_WIDTH - 10}" y="${middle + 5}" text-anchor="end">${escaped(name)}</text>`,
    `<rect class="${at === 0 ? 'own' : 'other'}" x="${NAME_WIDTH}" y="${y}" width="${(median * scale).toFixed(1)}" height="${BAR_HEIGHT}" rx="3"/>`,
    `<line class="spread" x1="${x(least)}" x2="${x(most)}" y1="${middle}" y2="${middle}"/>`,
    `<text x="${Number(x(most)) + 8}" y="${middle + 5}">${number(median)}</text>`,
  ].join('');
}

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
