/** Values that statements take and give. Booleans are stored as 0 and 1. */
export type SqlValue = string | number | null | Uint8Array;

/** Rows of a statement; `affected` is the number of rows it changed. */
export interface Rows<Row> extends ReadonlyArray<Row> {
  readonly affected: number;
}

/** What a `select` ends with to lock the rows that it finds, until the transaction ends. */
export interface Locks {
  /** Waits for the rows, then keeps everybody else from locking or changing them. */
  readonly update: string;
  /** As `update`, but leaves out rows that another transaction has locked: it does not wait. */
  readonly claim: string;
  /**
   * Keeps the rows from being settled, beside others who do the same, and waits for those who settle
   * them. It does not wait for other changes of them, nor these for it.
   */
  readonly share: string;
  /** As `claim`, and leaves out rows that are shared as well. */
  readonly settle: string;
}

/** A table whose columns are whole numbers, and whose first `keyColumns` are its key. */
export interface NumberTable {
  readonly name: string;
  /** With their types, such as `seat integer`. */
  readonly columns: readonly string[];
  readonly keyColumns: number;
}

/** One transaction of the database. Statements use `$1`, `$2`, … for their parameters. */
export interface Tx {
  /** Runs one statement. */
  query<Row = Record<string, SqlValue>>(text: string, params?: SqlValue[]): Promise<Rows<Row>>;
  /**
   * A table expression over many rows at once: `rows('$1', ['seat int', 'choice int'])` in a
   * `from` clause reads the JSON array of arrays in parameter 1. This, `addNew` and `locks` are the
   * places where the dialects of SQLite and PostgreSQL differ.
   */
  rows(parameter: string, columns: readonly string[]): string;
  /**
   * Adds those rows whose key is not in the table, of several with one key the first.
   * @returns for each whether it was added
   */
  addNew(table: NumberTable, rows: readonly (readonly number[])[]): Promise<boolean[]>;
  /** Locks of rows, in PostgreSQL; empty in SQLite, where a transaction has the whole record. */
  readonly locks: Locks;
}

/** How what a procedure takes and gives goes from one thread to another, where that matters. */
export interface Wire<Input, Output> {
  packInput(input: Input): unknown;
  unpackInput(packed: unknown): Input;
  packOutput(output: Output): unknown;
  unpackOutput(packed: unknown): Output;
}

/** A named piece of work on the database, run whole in one transaction or not at all. */
export interface Procedure<Input, Output> {
  readonly access: 'read' | 'write';
  /** No deadline: its caller must learn the outcome, however late (sealing, exports). */
  readonly patient: boolean;
  /** null: as they are. */
  readonly wire: Wire<Input, Output> | null;
  readonly run: (tx: Tx, input: Input) => Promise<Output>;
}

interface Traits<Input, Output> {
  readonly patient?: boolean;
  readonly wire?: Wire<Input, Output>;
}

/** A procedure that only reads: it sees everything acknowledged before it was called. */
export function reading<Input, Output>(
  run: (tx: Tx, input: Input) => Promise<Output>,
  { patient = false, wire }: Traits<Input, Output> = {},
): Procedure<Input, Output> {
  return { access: 'read', patient, wire: wire ?? null, run };
}

/** A procedure that writes: when its promise resolves, its effect survives a crash. */
export function writing<Input, Output>(
  run: (tx: Tx, input: Input) => Promise<Output>,
  { patient = false, wire }: Traits<Input, Output> = {},
): Procedure<Input, Output> {
  return { access: 'write', patient, wire: wire ?? null, run };
}

// biome-ignore lint/suspicious/noExplicitAny: any procedure, whatever it takes and gives
export type Procedures = Record<string, Procedure<any, any>>;

/** Makes a write happen once for all requests that carry the same key (SPEC R). */
export interface Idempotency {
  /** Whose keys these are: an account's uuid. */
  readonly owner: string;
  readonly key: string;
  /** What was asked for: a hash of method, path and body. */
  readonly fingerprint: string;
  readonly nowMs: number;
}

/** How the rest of the program calls procedures: by name, typed, as promises. */
export type Calls<P extends Procedures> = {
  readonly [K in keyof P]: P[K] extends Procedure<infer Input, infer Output>
    ? (input: Input, idempotency?: Idempotency | null) => Promise<Output>
    : never;
};

/** A record that is open. */
export interface Database<P extends Procedures> {
  readonly store: Calls<P>;
  /** Calls that are not answered or dropped yet, for metrics. */
  pending(): number;
  /** Commits what is queued and closes the files or connections. */
  close(): Promise<void>;
}
