import { CsvError, type Options as CsvOptions, parse } from 'csv-parse/sync';
import { type ImportIssue, UnreadableText } from './entry.ts';

/** A row with at least one filled cell. */
export interface Row {
  /** The line at which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** The header of a table and its data rows. */
export interface Table {
  readonly header: Row;
  readonly rows: readonly Row[];
}

// Spreadsheets use the list separator of their locale.
const DELIMITERS = [',', ';', '\t'];
// More than the quizzes of one import, to allow titles and blank rows. Parsing this many takes 50 ms at most.
const ROWS_MAX = 1_000;
const CELLS_MAX = 64;
/** Cells may have several lines. The parser takes 0.2 s for 480,000 empty ones. */
const LINES_MAX = 20_000;
// Four times the size of the longest possible quiz.
const RECORD_BYTES_MAX = 64 * 1024;
/** Most title rows before the header, and bytes of each of them. */
const TITLE_ROWS_MAX = 20;
const TITLE_BYTES_MAX = 4 * 1024;

class TooWide extends Error {}
class HeaderFound extends Error {}

/**
 * Parses CSV (RFC 4180) and its variants from spreadsheets: with a byte order mark, with bare line feeds,
 * and with the delimiter, comma, semicolon or tab, that yields a header.
 * @param isHeader whether these cells are the header; rows before it are ignored
 * @param missing the error text when there is no header
 * @throws UnreadableText when there is no header, quotes are wrong, or the table is too large
 */
export function parseTable(
  text: string,
  isHeader: (cells: readonly string[]) => boolean,
  missing: string,
): Table {
  // Normalize line ends for line numbers; texts of quizzes contain none.
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (hasTooManyLines(lines)) throw new UnreadableText(`The text has over ${LINES_MAX} lines.`);
  let failure: unknown = null;
  for (const delimiter of DELIMITERS) {
    try {
      if (!hasHeader(lines, delimiter, isHeader)) continue;
    } catch (error) {
      failure ??= error;
      continue;
    }
    const rows = parseRows(lines, delimiter);
    const at = rows.findIndex(({ cells }) => isHeader(cells));
    return { header: rows[at] as Row, rows: rows.slice(at + 1) };
  }
  throw failure ?? new UnreadableText(missing);
}

function hasTooManyLines(text: string): boolean {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0 && lines <= LINES_MAX; at = text.indexOf('\n', at + 1))
    lines++;
  return lines > LINES_MAX;
}

/**
 * Whether one of the first rows is the header. It reads no further than that row, and little before it:
 * reading large rows once for each delimiter would block the event loop.
 * @throws UnreadableText when a quote before it is wrong
 */
function hasHeader(
  text: string,
  delimiter: string,
  isHeader: (cells: readonly string[]) => boolean,
): boolean {
  try {
    parseRecords(text, delimiter, {
      to: TITLE_ROWS_MAX,
      max_record_size: TITLE_BYTES_MAX,
      on_record: (row) => {
        // With `info` a row is not the array that its type says.
        if (isHeader((row as unknown as CsvRecord).record)) throw new HeaderFound();
        return null;
      },
    });
    return false;
  } catch (error) {
    if (error instanceof HeaderFound) return true;
    if (error instanceof CsvError && error.code === 'CSV_MAX_RECORD_SIZE') return false;
    throw readableError(error);
  }
}

function parseRows(text: string, delimiter: string): Row[] {
  const rows: Row[] = [];
  let line = 1;
  for (const { record, info } of readRecords(text, delimiter)) {
    if (record.some((cell) => cell.trim() !== '')) rows.push({ line, cells: record });
    line = info.lines + 1;
  }
  return rows;
}

function readRecords(text: string, delimiter: string): CsvRecord[] {
  const limits = { to: ROWS_MAX + 1, max_record_size: RECORD_BYTES_MAX };
  let records: CsvRecord[];
  try {
    records = parseRecords(text, delimiter, limits);
  } catch (error) {
    throw readableError(error);
  }
  if (records.length > ROWS_MAX) throw new UnreadableText(`The text has over ${ROWS_MAX} rows.`);
  return records;
}

interface CsvRecord {
  readonly record: string[];
  readonly info: { readonly lines: number };
}

function parseRecords(text: string, delimiter: string, options: CsvOptions): CsvRecord[] {
  return parse(text, {
    ...options,
    delimiter,
    record_delimiter: '\n',
    bom: true,
    relax_column_count: true,
    info: true,
    // Called for each cell: a row of a million cells would block the event loop for a second.
    cast: (value, { index }) => {
      if (index >= CELLS_MAX) throw new TooWide();
      return value;
    },
  }) as unknown as CsvRecord[];
}

function readableError(error: unknown): unknown {
  if (error instanceof TooWide) return new UnreadableText(`A row has over ${CELLS_MAX} cells.`);
  return error instanceof CsvError ? new UnreadableText(csvErrorText(error)) : error;
}

function csvErrorText(error: CsvError): string {
  const rule = 'a quote in a cell is written twice, and the cell is in quotes';
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return `The text ends within quotes: ${rule}.`;
  const line = Reflect.get(error, 'lines');
  return error.code === 'CSV_MAX_RECORD_SIZE'
    ? `line ${line}: has over ${RECORD_BYTES_MAX} bytes.`
    : `line ${line}: ${rule}.`;
}

/** The issue of a row with filled cells beyond the header; null if there are none. */
export function widthIssue({ header }: Table, { line, cells }: Row): ImportIssue | null {
  const isWide = cells.slice(header.cells.length).some((cell) => cell.trim() !== '');
  if (!isWide) return null;
  return { location: `line ${line}`, field: null, reason: 'has more cells than the header' };
}

/** Parses a whole number; other text is returned unchanged, and validation rejects it. */
export function parseWholeNumber(cell: string): number | string {
  return /^\d{1,15}$/.test(cell.trim()) ? Number(cell) : cell;
}
