import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tx } from './procedure.ts';

const FOLDER = join(import.meta.dir, 'migrations');

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly statements: readonly string[];
}

/** The migrations in order. They are append-only: one that was released is never edited. */
export function migrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      number: Number(file.slice(0, 4)),
      name: file.slice(5, -4),
      statements: statementsOf(readFileSync(join(FOLDER, file), 'utf8')),
    }));
}

/**
 * The statements of a migration in SQLite's dialect: a comment `sqlite: …` holds what SQLite alone
 * is given, and every other database takes it for a comment.
 */
function statementsOf(text: string): string[] {
  const code = text.replace(/^\s*--.*$/gm, '').replace(/\/\* sqlite: (.*?) \*\//g, '$1');
  return code
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/**
 * Applies the migrations that this record has not seen, all in one transaction.
 * @throws Error when the record was written by a newer version of the program.
 */
export async function migrate(tx: Tx, nowMs: number): Promise<void> {
  await tx.query('begin immediate');
  try {
    await tx.query(
      'create table if not exists migrations (number integer primary key, name text not null, applied bigint not null)',
    );
    const rows = await tx.query<{ number: number }>('select number from migrations');
    const applied = new Set(rows.map((row) => row.number));
    const known = migrations();
    const newest = known.at(-1)?.number ?? 0;
    const newer = rows.find((row) => row.number > newest);
    if (newer) {
      throw new Error(
        `the record is at migration ${newer.number}, this program knows ${newest}: run the newer version`,
      );
    }
    for (const migration of known.filter(({ number }) => !applied.has(number))) {
      for (const statement of migration.statements) await tx.query(statement);
      await tx.query('insert into migrations (number, name, applied) values ($1, $2, $3)', [
        migration.number,
        migration.name,
        nowMs,
      ]);
    }
    await tx.query('commit');
  } catch (error) {
    await tx.query('rollback');
    throw error;
  }
}
