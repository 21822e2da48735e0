import { type CastingContext, stringify } from 'csv-stringify/sync';
import type { z } from 'zod';
import type { FeedEvent } from '../../../protocol/feed.ts';
import type { LoggedMessage } from '../../../protocol/history.ts';
import type { exportQuerySchema } from '../../../protocol/studio.ts';
import { indexesIn } from '../../realtime/feed/sealed-pages.ts';
import type { SealedBody } from '../../realtime/feed/sealed-sql.ts';
import { escapeFormula } from '../rundown/formats/formula-escape.ts';
import type {
  ExportedAnswer,
  ExportedContact,
  ExportedCount,
  ExportedResult,
  ExportedWinner,
} from './exports-sql.ts';

export type ExportFormat = z.infer<typeof exportQuerySchema>['format'];

export const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

/** How a row is written in each format. */
export interface ExportTable<Row> {
  readonly columns: readonly string[];
  /** The row as one line of NDJSON, without the newline. */
  readonly line: (row: Row) => string;
  /** The row as CSV records, by column. */
  readonly records: (row: Row) => readonly object[];
  /** The number of characters that take as long; by default those of the row. */
  readonly costOf?: (row: Row) => number;
}

/** A table with one line and one record per row, both with the row's own fields. */
const plainTable = <Row extends object>(...columns: (keyof Row & string)[]): ExportTable<Row> => ({
  columns,
  line: (row) => JSON.stringify(row),
  records: (row) => [row],
});

/** A table whose rows have a time: `time` is `at` for people, ISO 8601 in UTC. */
function timedTable<Row extends { readonly at: number }>(
  ...columns: (keyof Row & string)[]
): ExportTable<Row> {
  const withTime = (row: Row) => ({ ...row, time: new Date(row.at).toISOString() });
  return {
    columns: [...columns, 'time'],
    line: (row) => JSON.stringify(withTime(row)),
    records: (row) => [withTime(row)],
  };
}

// SPEC P-28, J-12.
export const ANSWERS = timedTable<ExportedAnswer>(
  'quizId',
  'viewer',
  'seat',
  'choice',
  'correct',
  'at',
  'question',
);
export const WINNERS = timedTable<ExportedWinner>(
  'roundId',
  'viewer',
  'seat',
  'at',
  'round',
  'name',
  'code',
  'questions',
);
export const CONTACTS = timedTable<ExportedContact>(
  'roundId',
  'viewer',
  'code',
  'name',
  'contact',
  'at',
);
export const AUDIENCE = timedTable<ExportedCount>('interval', 'at', 'count');
export const CHAT = timedTable<LoggedMessage>(
  'interval',
  'at',
  'kind',
  'id',
  'viewer',
  'name',
  'text',
  'hidden',
);
export const RESULTS = plainTable<ExportedResult>(
  'quizId',
  'question',
  'choice',
  'correct',
  'count',
  'percentage',
);

/** The feed: a line is the exact body that viewers got, a record is one event (SPEC P-29). */
export const FEED: ExportTable<Pick<SealedBody, 'interval' | 'body'>> = {
  columns: ['interval', 'type', 'data'],
  line: ({ body }) => body,
  records: ({ interval, body }) =>
    JSON.parse(body).events.map(({ type, data }: FeedEvent) => ({
      interval,
      type,
      data: JSON.stringify(data),
    })),
  costOf: (row) => charsOf(row) + indexesIn(row.body) / INDEXES_PER_CHAR,
};

// CSV with formulas takes 50 ms for each million characters.
const SLICE_CHARS = 64 * 1024;
/** Member names that are numbers, parsed: 10 µs for each 1,000 that they add up to. */
const INDEXES_PER_CHAR = 5;
/** Length of a value that is no text. */
const VALUE_CHARS = 10;

/** Serializes a table in slices of pages; CSV begins with a header row. A page without rows is an empty slice. */
export async function* serializePages<Row extends object>(
  { columns, line, records, costOf = charsOf }: ExportTable<Row>,
  format: ExportFormat,
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  if (format === 'csv') yield csv(columns, [], true);
  for await (const page of pages) {
    if (page.length === 0) yield '';
    for (const rows of slicesOf(page, costOf)) {
      yield format === 'csv'
        ? csv(columns, rows.flatMap(records), false)
        : rows.map((row) => `${line(row)}\n`).join('');
    }
  }
}

/** Splits a page into slices of about `SLICE_CHARS`, so that none blocks the event loop for long. */
function* slicesOf<Row extends object>(
  page: readonly Row[],
  costOf: (row: Row) => number,
): Generator<readonly Row[]> {
  let start = 0;
  let chars = 0;
  for (const [index, row] of page.entries()) {
    chars += costOf(row);
    if (chars < SLICE_CHARS) continue;
    yield page.slice(start, index + 1);
    start = index + 1;
    chars = 0;
  }
  if (start < page.length) yield page.slice(start);
}

/** About the length of a row: that of its texts, and of its numbers and names. */
function charsOf(row: object): number {
  return Object.values(row).reduce(
    (sum, value) => sum + (typeof value === 'string' ? value.length : VALUE_CHARS),
    0,
  );
}

/** CSV as in RFC 4180: commas, CRLF, quotes where needed. */
function csv(columns: readonly string[], records: readonly object[], header: boolean): string {
  return stringify([...records], {
    columns: [...columns],
    header,
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    // Texts of viewers and producers must not run as formulas in a spreadsheet.
    escape_formulas: true,
    cast: { boolean: String, string: escapeText },
  });
}

// A viewer id may begin with "-"; it must stay equal to the id in other exports.
function escapeText(value: string, { column }: CastingContext) {
  const isExact = column === 'viewer' && value.startsWith('-');
  return isExact ? { value, escape_formulas: false } : escapeFormula(value);
}
