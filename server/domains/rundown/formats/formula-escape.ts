// Characters with which a formula begins, including their fullwidth forms.
const BEGIN = '[=+\\-@\uff1d\uff0b\uff0d\uff20]';
// A spreadsheet whose separator is ";" or a tab begins a cell after it, in the middle of a cell of ours.
// There a quoted cell of ours is not quoted, so a line break begins a cell as well.
const CELL = '(^|[;\\t\\r\\n]"*)';
const ESCAPABLE = new RegExp(`${CELL}('*${BEGIN})`, 'g');
const ESCAPED = new RegExp(`${CELL}'('*${BEGIN})`, 'g');

/**
 * Puts an apostrophe, the escape of spreadsheets, before text that a spreadsheet would run as a formula:
 * at the beginning, and after a character that some spreadsheets take for the end of a cell.
 */
export function escapeFormula(text: string): string {
  return text.replace(ESCAPABLE, "$1'$2");
}

/** Reverses `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return cell.replace(ESCAPED, '$1$2');
}
