// What a spreadsheet takes for a formula begins with one of these, some in the width of Asian fonts.
const GUARDABLE = /^'*[=+\-@\uff1d\uff0b\uff0d\uff20]/;
const GUARDED = /^'+[=+\-@\uff1d\uff0b\uff0d\uff20]/;

/** The text with an apostrophe before it when a spreadsheet would run it, as spreadsheets do it too. */
export function guarded(text: string): string {
  return GUARDABLE.test(text) ? `'${text}` : text;
}

/** The text that `guarded` made this of. */
export function unguarded(cell: string): string {
  return GUARDED.test(cell) ? cell.slice(1) : cell;
}
