import { type CastingContext, stringify } from 'csv-stringify/sync';
import type { z } from 'zod';
import type { FeedEvent } from '../../../protocol/feed.ts';
import type { exportQuerySchema } from '../../../protocol/studio.ts';
import type { SealedBody } from '../../realtime/feed/sealing-sql.ts';
import type {
  ExportedAnswer,
  ExportedCount,
  ExportedLine,
  ExportedResult,
  ExportedWinner,
} from './exports-sql.ts';

export type ExportFormat = z.infer<typeof exportQuerySchema>['format'];

/** Media type of an export, and what its file name ends with. */
export const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

/** How a row of the database is written down in either format. */
export interface ExportTable<Row> {
  readonly columns: readonly string[];
  /** The row as one line of NDJSON, without the line's end. */
  readonly line: (row: Row) => string;
  /** The row as records of CSV, by column. */
  readonly records: (row: Row) => readonly object[];
}

/** One line and one record for each row, with the same members. */
const asItIs = <Row extends object>(...columns: (keyof Row & string)[]): ExportTable<Row> => ({
  columns,
  line: (row) => JSON.stringify(row),
  records: (row) => [row],
});

// SPEC P-28, J-12.
export const ANSWERS = asItIs<ExportedAnswer>(
  'quizId',
  'viewer',
  'seat',
  'choice',
  'correct',
  'at',
);
export const WINNERS = asItIs<ExportedWinner>('roundId', 'viewer', 'seat', 'at');
export const AUDIENCE = asItIs<ExportedCount>('interval', 'at', 'count');
export const CHAT = asItIs<ExportedLine>(
  'interval',
  'at',
  'kind',
  'id',
  'viewer',
  'name',
  'text',
  'hidden',
);
export const RESULTS = asItIs<ExportedResult>(
  'quizId',
  'question',
  'choice',
  'correct',
  'count',
  'percentage',
);

/** The feed: the very bytes that viewers got as a line, an event as a record (SPEC P-29). */
export const FEED: ExportTable<Pick<SealedBody, 'interval' | 'body'>> = {
  columns: ['interval', 'type', 'data'],
  line: ({ body }) => body,
  records: ({ interval, body }) =>
    JSON.parse(body).events.map(({ type, data }: FeedEvent) => ({
      interval,
      type,
      data: JSON.stringify(data),
    })),
};

/** The pages of a table, written down one by one; CSV begins with its header row. */
export async function* written<Row>(
  { columns, line, records }: ExportTable<Row>,
  format: ExportFormat,
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  if (format === 'csv') yield csv(columns, [], true);
  for await (const rows of pages) {
    yield format === 'csv'
      ? csv(columns, rows.flatMap(records), false)
      : rows.map((row) => `${line(row)}\n`).join('');
  }
}

/** RFC 4180: a comma between fields, CRLF after each record, quotes where they are needed. */
function csv(columns: readonly string[], records: readonly object[], header: boolean): string {
  return stringify([...records], {
    columns: [...columns],
    header,
    record_delimiter: '\r\n',
    quote_record_delimiter: true,
    // A text that a viewer or producer wrote must not run as a formula in a spreadsheet.
    escape_formulas: true,
    cast: { boolean: String, string: keepViewer },
  });
}

// A viewer id may begin with "-", but is no text of anybody's: it has to stay what it is elsewhere.
function keepViewer(value: string, { column }: CastingContext) {
  return column === 'viewer' && value.startsWith('-') ? { value, escape_formulas: false } : value;
}
