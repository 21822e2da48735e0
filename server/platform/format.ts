const integerFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** 1,234,567 */
export function formatInteger(value: number): string {
  return integerFormat.format(value);
}

/** 96 MB */
export function formatMegabytes(bytes: number): string {
  return `${formatInteger(bytes / 1e6)} MB`;
}

/** 2:03 (minutes:seconds) */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Fits a text to a number of terminal columns: cuts it with an ellipsis, or pads it with spaces. */
export function fitToColumns(
  text: string,
  columns: number,
  align: 'left' | 'right' = 'left',
): string {
  let fitted = text;
  if (Bun.stringWidth(text) > columns) {
    const characters = [...text];
    while (characters.length > 0 && Bun.stringWidth(characters.join('')) > columns - 1) {
      characters.pop();
    }
    fitted = columns > 0 ? `${characters.join('')}…` : '';
  }
  const padding = ' '.repeat(Math.max(0, columns - Bun.stringWidth(fitted)));
  return align === 'left' ? fitted + padding : padding + fitted;
}
