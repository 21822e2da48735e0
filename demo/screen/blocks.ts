const LEVELS = ' ▁▂▃▄▅▆▇█';
const EIGHTHS = ' ▏▎▍▌▋▊▉█';

// Digits of 3 × 5 dots, row by row.
const DOTS: Readonly<Record<string, string>> = {
  0: '111 101 101 101 111',
  1: '010 110 010 010 111',
  2: '111 001 111 100 111',
  3: '111 001 111 001 111',
  4: '101 101 111 001 001',
  5: '111 100 111 001 111',
  6: '111 100 111 101 111',
  7: '111 001 001 001 001',
  8: '111 101 111 101 111',
  9: '111 101 111 001 111',
};

/** Renders a number in three rows; each digit takes three columns and a space. */
export function bigNumber(value: number): [string, string, string] {
  const rows: [string, string, string] = ['', '', ''];
  for (const digit of String(value)) {
    const dots = [...(DOTS[digit] ?? '').split(' '), '000'];
    for (const row of [0, 1, 2] as const) {
      for (let column = 0; column < 3; column++) {
        rows[row] += half(dots[2 * row]?.[column] === '1', dots[2 * row + 1]?.[column] === '1');
      }
      rows[row] += ' ';
    }
  }
  return rows;
}

function half(top: boolean, bottom: boolean): string {
  if (top) return bottom ? '█' : '▀';
  return bottom ? '▄' : ' ';
}

/** Renders a chart of values with the newest at the right. */
export function chart(values: readonly number[], columns: number, rows: number): string[] {
  const shown = values.slice(-columns);
  const most = Math.max(1, ...shown);
  // The axis starts at 70 % of the maximum: small changes stay visible but do not look large.
  const least = Math.min(...shown, most * 0.7);
  const heights = shown.map((value) => {
    return 1 + Math.round(((value - least) / (most - least)) * (rows * 8 - 1));
  });
  const blank = ' '.repeat(columns - shown.length);
  return Array.from({ length: rows }, (_, row) => {
    const below = (rows - 1 - row) * 8;
    const cells = heights.map((height) => LEVELS[Math.min(8, Math.max(0, height - below))]);
    return blank + cells.join('');
  });
}

/** Renders a bar for a share from 0 to 1, with a resolution of an eighth of a column. */
export function bar(share: number, columns: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * columns * 8);
  const full = '█'.repeat(Math.floor(eighths / 8));
  return (full + (EIGHTHS[eighths % 8] ?? '').trim()).padEnd(columns);
}
