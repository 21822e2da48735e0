const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** 1,234,567 */
export function figure(value: number): string {
  return whole.format(value);
}

/** 96 MB */
export function megabytes(bytes: number): string {
  return `${figure(bytes / 1e6)} MB`;
}

/** 2:03, as clocks show it. */
export function clockTime(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** A text in so many columns of a terminal: cut with an ellipsis, or filled up. */
export function fit(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  let cut = text;
  if (Bun.stringWidth(text) > columns) {
    const characters = [...text];
    while (characters.length > 0 && Bun.stringWidth(characters.join('')) > columns - 1) {
      characters.pop();
    }
    cut = columns > 0 ? `${characters.join('')}…` : '';
  }
  const space = ' '.repeat(Math.max(0, columns - Bun.stringWidth(cut)));
  return align === 'left' ? cut + space : space + cut;
}
