import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MadeResult, Row } from '../run/result.ts';

/** By the name of the bench. */
export type Results = ReadonlyMap<string, MadeResult>;

/** Where a whole run leaves its results for the page of performance. */
export const RESULTS_FOLDER = join(import.meta.dir, '../../docs/performance');

/** One figure of a result, with where it stands. */
export interface Figure {
  readonly median: number;
  readonly bench: string;
  readonly row: string;
  readonly name: string;
}

/** A figure that something is made of is in no result. */
export class FigureLacking extends Error {
  override readonly name = 'FigureLacking';
}

/** All results in a folder; none when there is no such folder. */
export function readResults(folder: string): Results {
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return new Map(
    files
      .filter((file) => file.endsWith('.json'))
      .map((file): MadeResult => JSON.parse(readFileSync(join(folder, file), 'utf8')))
      .map((result) => [result.bench, result]),
  );
}

/**
 * The figure of the row with this name; of those that a pattern matches, the one with the largest
 * number, which is what the pattern captures.
 * @throws FigureLacking
 */
export function figureOf(
  results: Results,
  bench: string,
  row: string | RegExp,
  name: string,
): Figure {
  const result = results.get(bench);
  if (!result) throw new FigureLacking(`there is no ${bench}.json`);
  const found = typeof row === 'string' ? named(result.rows, row) : largest(result.rows, row, name);
  const spread = found?.figures[name];
  if (!found || !spread)
    throw new FigureLacking(`${bench}.json has no "${name}" of ${quoted(row)}`);
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
