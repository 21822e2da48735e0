import type { Rows, SqlValue } from '../../../../server/storage/sql/procedure.ts';
import type { Engine, Snapshot } from './engine.ts';

interface Executed {
  readonly text: string;
  readonly params: SqlValue[];
  /** The result as text, for the comparison after a repetition. */
  readonly result: string;
}

/** An error with an SQLSTATE. */
export class SqlError extends Error {
  readonly severity = 'ERROR';
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Marks a lock that skips rows which other transactions have locked (`Locks.claim`, `Locks.settle`). */
export const SKIP_LOCKED = '/* skip locked */';
/** Marks a lock that waits (`Locks.update`, `Locks.share`). */
export const LOCK = '/* lock */';

/**
 * A transaction of the model. Only one of the open transactions has its changes in the engine. When
 * another one needs it, the changes are rolled back, and repeated later: if a repeated statement has
 * another result, the transaction fails, as if its connection had been lost before. Rows that a
 * statement locked or changed are thus as stable as with row locks, and so is what it read since: a lock
 * of PostgreSQL may keep others from changing that, such as the answers of a quiz that closes. Reads
 * before the first lock or change are not repeated: what they saw may have changed since.
 */
export class Transaction {
  private readonly executed: Executed[] = [];
  private snapshot: Snapshot | null = null;
  private isAttached = false;

  constructor(
    private readonly engine: Engine,
    readonly access: 'read' | 'write',
  ) {}

  /** Whether its changes are in the engine, uncommitted. */
  get isHolding(): boolean {
    return this.isAttached;
  }

  /** Whether it changed or locked anything. */
  get hasChanges(): boolean {
    return this.executed.length > 0;
  }

  /** Whether the statement needs the engine for itself. */
  needsEngine(text: string): boolean {
    return this.access === 'write' && (this.executed.length > 0 || isLocking(text));
  }

  /** Reads in a snapshot, or of what is committed when the transaction may write. */
  read<Row>(text: string, params: SqlValue[]): Rows<Row> {
    this.snapshot ??= this.engine.openSnapshot();
    const rows = this.snapshot.statements.run<Row>(text, params);
    if (this.access === 'write') this.releaseSnapshot();
    return rows;
  }

  /** Runs a statement that needs the engine. The engine must be free or its own. */
  write<Row>(text: string, params: SqlValue[]): Rows<Row> {
    this.attach();
    const rows = this.engine.query<Row>(text, params);
    this.executed.push({ text, params, result: resultOf(rows) });
    return rows;
  }

  /** Takes its changes out of the engine; the next statement repeats them. */
  detach(): void {
    if (this.isAttached) this.engine.query('rollback', []);
    this.isAttached = false;
  }

  /** @throws SqlError when a repeated statement had another result: nothing is changed then */
  commit(): void {
    if (this.executed.length > 0) {
      this.attach();
      this.engine.query('commit', []);
      this.isAttached = false;
    }
    this.releaseSnapshot();
  }

  rollback(): void {
    this.detach();
    this.executed.length = 0;
    this.releaseSnapshot();
  }

  private attach(): void {
    if (this.isAttached) return;
    this.engine.query('begin immediate', []);
    this.isAttached = true;
    for (const { text, params, result } of this.executed) {
      if (resultOf(this.engine.query(text, params)) === result) continue;
      this.rollback();
      throw new SqlError('40001', 'could not serialize access due to concurrent update');
    }
  }

  private releaseSnapshot(): void {
    if (this.snapshot) this.engine.releaseReader(this.snapshot);
    this.snapshot = null;
  }
}

function isLocking(text: string): boolean {
  return (
    /^\s*(?:insert|update|delete)\b/i.test(text) ||
    text.includes(SKIP_LOCKED) ||
    text.includes(LOCK)
  );
}

function resultOf(rows: Rows<unknown>): string {
  return `${rows.affected} ${JSON.stringify(rows)}`;
}
