import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tx } from './procedure.ts';

const FOLDER = join(import.meta.dir, 'migrations');

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/** This program cannot use the database; the message says why. */
export class UnusableDatabase extends Error {}

/** The SQL dialects; a migration may have statements for one of them only. */
export type Dialect = 'sqlite' | 'postgres';

/** The migrations in order. They are append-only: a released migration is never edited. */
export function migrations(dialect: Dialect): Migration[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      number: Number(file.slice(0, 4)),
      name: file.slice(5, -4),
      statements: statementsOf(readFileSync(join(FOLDER, file), 'utf8'), dialect),
    }));
}

/**
 * The statements of a migration in a dialect. The text of a comment `sqlite: …` or `postgres: …` is a
 * part of the statement in that dialect, and a comment in the other.
 */
function statementsOf(text: string, dialect: Dialect): string[] {
  const dialectComment = new RegExp(`/\\* ${dialect}: (.*?) \\*/`, 'gs');
  const code = text.replace(/^\s*--.*$/gm, '').replace(dialectComment, '$1');
  return code
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/**
 * Applies the migrations that the database lacks, in the given transaction. The caller makes sure that
 * no other process migrates at the same time.
 * @throws UnusableDatabase when the database is from a newer version of the program
 */
export async function migrate(tx: Tx, dialect: Dialect, nowMs: number): Promise<void> {
  await tx.query(
    'create table if not exists migrations (number integer primary key, name text not null, applied bigint not null)',
  );
  const rows = await tx.query<{ number: number }>('select number from migrations');
  const applied = new Set(rows.map((row) => row.number));
  const available = migrations(dialect);
  const newest = available.at(-1)?.number ?? 0;
  const newer = rows.find((row) => row.number > newest);
  if (newer) {
    throw new UnusableDatabase(
      `the database is at migration ${newer.number}, but this program knows only ${newest}; run a newer version`,
    );
  }
  for (const migration of available.filter(({ number }) => !applied.has(number))) {
    for (const statement of migration.statements) await tx.query(statement);
    const row = [migration.number, migration.name, nowMs];
    await tx.query('insert into migrations (number, name, applied) values ($1, $2, $3)', row);
  }
}
