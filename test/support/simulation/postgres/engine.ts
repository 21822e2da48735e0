import { Database } from 'bun:sqlite';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '../../../../server/storage/sql/migrate.ts';
import type { NumberTable, Rows, SqlValue } from '../../../../server/storage/sql/procedure.ts';
import { SQLITE_LOCKS, Statements, sqliteRows } from '../../../../server/storage/sql/sqlite.ts';

interface Connection {
  readonly database: Database;
  readonly statements: Statements;
}

/** The rows of tables. */
export type Contents = readonly { readonly table: string; readonly rows: unknown[][] }[];

/**
 * The files of the model: SQLite with a write-ahead log, so that readers have snapshots. One connection
 * writes. The connections and their prepared statements serve many simulations, since opening takes
 * longer than a short simulation.
 */
export class Engine {
  private readonly writer: Connection;
  private readonly idleReaders: Connection[] = [];
  private readonly readers: Connection[] = [];
  private readonly path: string;
  /** The contents that every simulation starts with, by table. */
  private initial: Contents = [];
  private readonly tables: string[];

  private constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true });
    this.path = join(directory, 'simulation.sqlite');
    this.writer = this.connect();
    this.writer.database.run('pragma foreign_keys = on');
    this.tables = [];
  }

  /** @param prepare writes the contents that every simulation starts with */
  static async open(
    directory: string,
    prepare: (query: Engine['query']) => Promise<void>,
  ): Promise<Engine> {
    const engine = new Engine(directory);
    const query = engine.query;
    await migrate(
      {
        query: async (text, params) => query(text, params ?? []),
        rows: sqliteRows,
        insertNew: () => Promise.reject(new Error('not needed')),
        locks: SQLITE_LOCKS,
        timeline: '',
        monotonicMs: () => 0,
      },
      'sqlite',
      0,
    );
    await prepare(query);
    engine.keepContents();
    return engine;
  }

  /** Restores the contents that every simulation starts with. */
  reset(): void {
    this.restore(this.initial);
  }

  /** Replaces everything that is committed; open transactions end. */
  restore(contents: Contents): void {
    if (this.writer.database.inTransaction) this.query('rollback', []);
    for (const reader of this.readers) {
      if (!this.idleReaders.includes(reader)) this.releaseReader(reader);
    }
    const { database } = this.writer;
    database.run('pragma foreign_keys = off');
    database.run('begin');
    for (const table of this.tables) database.run(`delete from ${table}`);
    for (const { table, rows } of contents) {
      for (const row of rows) {
        const values = row.map((_, index) => `?${index + 1}`).join(',');
        this.writer.statements.run(`insert into ${table} values (${values})`, row as SqlValue[]);
      }
    }
    database.run('commit');
    database.run('pragma foreign_keys = on');
  }

  /** Everything that is committed. */
  committed(): Contents {
    const snapshot = this.openSnapshot();
    const contents = this.tables.map((table) => ({
      table,
      rows: snapshot.database.query(`select * from ${table}`).values(),
    }));
    this.releaseReader(snapshot);
    return contents.filter(({ rows }) => rows.length > 0);
  }

  /** Runs a statement on the connection that writes. */
  readonly query = <Row>(text: string, params: SqlValue[]): Rows<Row> =>
    this.writer.statements.run<Row>(text, params);

  /** `Tx.insertNew` on the connection that writes. */
  readonly insertNew = (table: NumberTable, rows: readonly (readonly number[])[]): boolean[] =>
    this.writer.statements.addNew(table, rows);

  /** Opens a snapshot of what is committed; it is taken by its first statement. */
  openSnapshot(): Connection {
    const reader = this.idleReaders.pop() ?? this.connectReader();
    reader.statements.run('begin', []);
    return reader;
  }

  releaseReader(reader: Connection): void {
    if (reader.database.inTransaction) reader.statements.run('commit', []);
    this.idleReaders.push(reader);
  }

  close(): void {
    for (const { statements, database } of [this.writer, ...this.readers]) {
      statements.finalize();
      database.close();
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  private connectReader(): Connection {
    const reader = this.connect();
    this.readers.push(reader);
    return reader;
  }

  private connect(): Connection {
    const database = new Database(this.path, { create: true });
    database.run('pragma journal_mode = wal');
    database.run('pragma synchronous = off');
    return { database, statements: new Statements(database) };
  }

  private keepContents(): void {
    const all = this.query<{ name: string }>(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_stat%'",
      [],
    );
    this.tables.push(...all.map(({ name }) => name));
    this.initial = this.committed();
  }
}

export type Snapshot = ReturnType<Engine['openSnapshot']>;
