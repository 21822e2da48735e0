/** Values of parameters and columns. Booleans are stored as 0 and 1. */
export type SqlValue = string | number | null | Uint8Array;

/** The rows of a statement; `affected` is the number of rows that it changed. */
export interface Rows<Row> extends ReadonlyArray<Row> {
  readonly affected: number;
}

/** Suffixes of a `select` that lock its rows until the end of the transaction. */
export interface Locks {
  /** Waits for the rows, then prevents other transactions from locking or changing them. */
  readonly update: string;
  /** Like `update`, but skips locked rows instead of waiting for them. */
  readonly claim: string;
  /**
   * A shared lock that conflicts with `exclusive` and `settle` only: it waits for a transaction that
   * holds one of these, and prevents others from taking them. It does not conflict with other changes.
   */
  readonly share: string;
  /** Like `update`, but also waits for `share` locks. */
  readonly exclusive: string;
  /** Like `claim`, but also skips rows with a `share` lock. */
  readonly settle: string;
}

/** A table of integer columns. The first `keyColumns` columns are its key. */
export interface NumberTable {
  readonly name: string;
  /** Names with types, such as `seat integer`. */
  readonly columns: readonly string[];
  readonly keyColumns: number;
}

/** A database transaction. Statements use `$1`, `$2`, … for their parameters. */
export interface Tx {
  query<Row = Record<string, SqlValue>>(text: string, params?: SqlValue[]): Promise<Rows<Row>>;
  /**
   * A table expression for many rows: `rows('$1', ['seat int', 'choice int'])` in a `from` clause
   * reads the JSON array of arrays in parameter 1. Only `rows`, `insertNew` and `locks` hide differences
   * between SQLite and PostgreSQL.
   */
  rows(parameter: string, columns: readonly string[]): string;
  /**
   * Inserts the rows whose key is not in the table; of several rows with one key, the first.
   * @returns for each row, whether it was inserted
   */
  insertNew(table: NumberTable, rows: readonly (readonly number[])[]): Promise<boolean[]>;
  /** Row locks of PostgreSQL; empty for SQLite, where a transaction locks the whole database. */
  readonly locks: Locks;
  /**
   * PostgreSQL's system identifier and timeline ID, such as `7381…:2`; empty for SQLite. The timeline ID grows
   * when a standby is promoted, which may lack the last commits.
   */
  readonly timeline: string;
  /** The monotonic clock of the process that runs the transaction; only for limits of its time. */
  monotonicMs(): number;
}

/** Encoding of input and output between threads, for procedures where the default is too slow. */
export interface Codec<Input, Output> {
  encodeInput(input: Input): unknown;
  decodeInput(packed: unknown): Input;
  encodeOutput(output: Output): unknown;
  decodeOutput(packed: unknown): Output;
}

/** A unit of work on the database, in one transaction. */
export interface Procedure<Input, Output> {
  readonly access: 'read' | 'write';
  /** The caller waits for the result however long it takes (sealing, exports). */
  readonly noDeadline: boolean;
  /** null: structured clone. */
  readonly codec: Codec<Input, Output> | null;
  readonly run: (tx: Tx, input: Input) => Promise<Output>;
}

interface ProcedureOptions<Input, Output> {
  readonly noDeadline?: boolean;
  readonly codec?: Codec<Input, Output>;
}

/** Defines a procedure that only reads. It sees everything that was acknowledged before the call. */
export function readProcedure<Input, Output>(
  run: (tx: Tx, input: Input) => Promise<Output>,
  { noDeadline = false, codec }: ProcedureOptions<Input, Output> = {},
): Procedure<Input, Output> {
  return { access: 'read', noDeadline, codec: codec ?? null, run };
}

/** Defines a procedure that writes. When its promise resolves, the changes survive a crash. */
export function writeProcedure<Input, Output>(
  run: (tx: Tx, input: Input) => Promise<Output>,
  { noDeadline = false, codec }: ProcedureOptions<Input, Output> = {},
): Procedure<Input, Output> {
  return { access: 'write', noDeadline, codec: codec ?? null, run };
}

// biome-ignore lint/suspicious/noExplicitAny: procedures of any input and output
export type Procedures = Record<string, Procedure<any, any>>;

/** The idempotency key of a request: requests with the same key change data once (SPEC R). */
export interface Idempotency {
  /** UUID of the account that owns the key. */
  readonly owner: string;
  readonly key: string;
  /** Hash of method, path and body. */
  readonly fingerprint: string;
  readonly nowMs: number;
}

/** Typed functions that call procedures by name. */
export type Calls<P extends Procedures> = {
  readonly [K in keyof P]: P[K] extends Procedure<infer Input, infer Output>
    ? (input: Input, idempotency?: Idempotency | null) => Promise<Output>
    : never;
};

export interface Database<P extends Procedures> {
  readonly store: Calls<P>;
  /** Number of pending calls, for metrics. */
  pending(): number;
  /** Commits the queued calls and closes the files or connections. */
  close(): Promise<void>;
}
