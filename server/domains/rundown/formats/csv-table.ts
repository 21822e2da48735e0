import { CsvError, parse } from 'csv-parse/sync';
import { type Flaw, Unreadable } from './entry.ts';

/** A row with something in it. */
export interface Row {
  /** At which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface Table {
  readonly header: Row;
  /** The rows behind the header. */
  readonly rows: readonly Row[];
}

// Spreadsheets write what the country they are set to separates with.
const DELIMITERS = [',', ';', '\t'];
// More than quizzes are taken at once, for titles and blank rows; reading them all takes 50 ms at most.
const ROWS_MAX = 1_000;
const CELLS_MAX = 64;
// Four times what the longest texts of a quiz take.
const RECORD_BYTES_MAX = 64 * 1024;
/** Rows of a title that may stand before the header. */
const TITLE_ROWS = 20;

class TooWide extends Error {}

/**
 * Reads CSV as RFC 4180 has it, and as spreadsheets write it: with a byte order mark, with line feeds
 * alone, and separated by semicolons or tabs, whichever gives a header.
 * @param isHeader whether these cells are the header; nothing before it means anything
 * @throws Unreadable when there is no header, quotes are wrong, or there is far too much
 */
export function tableOf(
  text: string,
  isHeader: (cells: readonly string[]) => boolean,
  missing: string,
): Table {
  // One kind of line ends, by which lines are counted; no text of a quiz has any.
  const lines = text.replace(/\r\n?/g, '\n');
  let failure: unknown = null;
  for (const delimiter of DELIMITERS) {
    let at = -1;
    try {
      at = rowsOf(lines, delimiter, TITLE_ROWS).findIndex(({ cells }) => isHeader(cells));
    } catch (error) {
      failure ??= error;
    }
    if (at === -1) continue;
    const rows = rowsOf(lines, delimiter, ROWS_MAX + 1);
    return { header: rows[at] as Row, rows: rows.slice(at + 1) };
  }
  throw failure ?? new Unreadable(missing);
}

function rowsOf(text: string, delimiter: string, limit: number): Row[] {
  const rows: Row[] = [];
  let line = 1;
  for (const { record, info } of recordsOf(text, delimiter, limit)) {
    if (record.some((cell) => cell.trim() !== '')) rows.push({ line, cells: record });
    line = info.lines + 1;
  }
  return rows;
}

function recordsOf(text: string, delimiter: string, limit: number) {
  try {
    const records = parse(text, {
      delimiter,
      record_delimiter: '\n',
      bom: true,
      relax_column_count: true,
      max_record_size: RECORD_BYTES_MAX,
      info: true,
      to: limit,
      // Called for each cell: a million of them in one row would hold up everybody for a second.
      cast: (value, { index }) => {
        if (index >= CELLS_MAX) throw new TooWide();
        return value;
      },
    }) as unknown as { record: string[]; info: { lines: number } }[];
    if (records.length > ROWS_MAX) throw new Unreadable(`The text has over ${ROWS_MAX} rows.`);
    return records;
  } catch (error) {
    if (error instanceof TooWide) throw new Unreadable(`A row has over ${CELLS_MAX} cells.`);
    if (error instanceof CsvError) throw new Unreadable(sentenceOf(error));
    throw error;
  }
}

function sentenceOf(error: CsvError): string {
  const rule = 'a quote in a cell is written twice, and the cell is in quotes';
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return `The text ends within quotes: ${rule}.`;
  const line = Reflect.get(error, 'lines');
  return error.code === 'CSV_MAX_RECORD_SIZE'
    ? `line ${line}: has over ${RECORD_BYTES_MAX} bytes.`
    : `line ${line}: ${rule}.`;
}

/** What is wrong with a row that has something in it beyond the header. */
export function flawOfWidth({ header }: Table, { line, cells }: Row): Flaw | null {
  const isWide = cells.slice(header.cells.length).some((cell) => cell.trim() !== '');
  if (!isWide) return null;
  return { place: `line ${line}`, field: null, reason: 'has more cells than the header' };
}

/** A whole number; a text that is none stays one, and is refused as such. */
export function numberOf(cell: string): number | string {
  return /^\d{1,15}$/.test(cell.trim()) ? Number(cell) : cell;
}
