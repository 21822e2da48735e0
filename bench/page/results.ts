import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row, StoredResult } from '../run/result.ts';

/** Results by the name of the benchmark. */
export type Results = ReadonlyMap<string, StoredResult>;

/** The folder to which `npm run bench:page` writes results. */
export const RESULTS_FOLDER = join(import.meta.dir, '../../docs/performance');

/** The median of a figure, and where it is stored. */
export interface Figure {
  readonly median: number;
  readonly bench: string;
  readonly row: string;
  readonly name: string;
}

/** No result contains a required figure or target. */
export class MissingFigureError extends Error {
  override readonly name = 'MissingFigureError';
}

/** All results in a folder; none when the folder does not exist. */
export function readResults(folder: string): Results {
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return new Map(
    files
      .filter((file) => file.endsWith('.json'))
      .map((file): StoredResult => JSON.parse(readFileSync(join(folder, file), 'utf8')))
      .map((result) => [result.bench, result]),
  );
}

/**
 * The figure of the row with this name, or of the row that the pattern matches with the largest captured
 * number.
 * @throws MissingFigureError
 */
export function figureOf(
  results: Results,
  bench: string,
  row: string | RegExp,
  name: string,
): Figure {
  const result = results.get(bench);
  if (!result) throw new MissingFigureError(`there is no ${bench}.json`);
  const found = typeof row === 'string' ? named(result.rows, row) : largest(result.rows, row, name);
  const spread = found?.figures[name];
  if (!found || !spread)
    throw new MissingFigureError(`${bench}.json has no "${name}" of ${quoted(row)}`);
  return { median: spread.median, bench, row: found.name, name };
}

const named = (rows: readonly Row[], name: string) => rows.find((row) => row.name === name);

function largest(rows: readonly Row[], pattern: RegExp, name: string): Row | undefined {
  const size = (row: Row) => Number(pattern.exec(row.name)?.[1]?.replaceAll(',', ''));
  return rows
    .filter((row) => name in row.figures && size(row) >= 0)
    .toSorted((a, b) => size(b) - size(a))[0];
}

const quoted = (row: string | RegExp) =>
  typeof row === 'string' ? `"${row}"` : `a row like ${row}`;
