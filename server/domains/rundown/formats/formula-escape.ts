// Characters with which a formula begins, including their fullwidth forms.
const ESCAPABLE = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const ESCAPED = /^'+[=+\-@\uff1d\uff0b\uff0d\uff20]/;

/** Prefixes text that a spreadsheet would run as a formula with an apostrophe, the escape of spreadsheets. */
export function escapeFormula(text: string): string {
  return ESCAPABLE.test(text) ? `'${text}` : text;
}

/** Reverses `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return ESCAPED.test(cell) ? cell.slice(1) : cell;
}
