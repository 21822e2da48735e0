import {
  IDLE_IN_TRANSACTION_TIMEOUT_MS,
  LOCK_TIMEOUT_MS,
} from '../../../../server/storage/sql/postgres.ts';
import type { Rows, SqlValue } from '../../../../server/storage/sql/procedure.ts';
import type { Scheduler } from '../../scheduler.ts';
import type { Engine } from './engine.ts';
import { SKIP_LOCKED, SqlError, Transaction } from './transaction.ts';

export interface PostgresModelOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  readonly engine: Engine;
}

/** The server's end of a session. */
export interface ServerSession {
  transaction: Transaction | null;
  /** When its last statement ended. */
  activeMs: number;
  isExecuting: boolean;
  /** How long a statement of the transaction waits for a lock. */
  lockTimeoutMs: number;
  /** The server has failed the transaction: its commit becomes a rollback. */
  isFailed: boolean;
  /** Whether the transaction has locked the watermark. */
  hasWatermark: boolean;
  isClosed: boolean;
  /** Closes the client's end. */
  readonly onClose: (reason: string) => void;
}

/**
 * The longest that a statement waits for another transaction that does nothing, before it takes the
 * engine from it, as if the two had locked different rows.
 */
const DIFFERENT_ROWS_WAIT_MAX_MS = 20;
/** Probability that a statement waits for the end of the other transaction, as for a row that it locked. */
const SAME_ROW_PROBABILITY = 0.2;
const WAIT_STEP_MS = 2;
/** Of a sealing: it has one row, which only sealings and the repair of the feed lock. */
const WATERMARK = 'update watermark';

/** The result of a statement that found all of its rows locked. */
const NO_ROWS: Rows<unknown> = Object.assign([], { affected: 0 });

type Reply = (result: Rows<unknown> | SqlError) => void;

/**
 * A model of PostgreSQL with the engine of SQLite: sessions, transactions that run at the same time,
 * row locks, and a server that stops, starts, or stops responding. Isolation is that of
 * `transaction.ts`. A statement that skips locked rows may skip all of them while another transaction
 * is open; the watermark only while one has it.
 */
export class PostgresModel {
  private readonly sessions = new Set<ServerSession>();
  private holder: ServerSession | null = null;
  private isUp = true;
  /** What arrived while the server was paused; null: it runs. */
  private arrived: (() => void)[] | null = null;
  /** Probability that a statement of a transaction that writes fails with a deadlock. */
  deadlocks = 0;
  /** Probability that a connection is lost after the commit of a transaction that writes, before the response. */
  lostResponses = 0;
  /** Further time of each statement, ms. */
  slownessMs = 0;
  private promotions = 0;

  constructor(private readonly options: PostgresModelOptions) {}

  /** The timeline of `Tx`. */
  get timeline(): string {
    return `7:${this.promotions + 1}`;
  }

  get accepts(): boolean {
    return this.isUp;
  }

  /** The server does nothing, and its connections stay open, as after SIGSTOP. */
  pause(): void {
    this.arrived ??= [];
  }

  resume(): void {
    const arrived = this.arrived ?? [];
    this.arrived = null;
    for (const work of arrived) this.options.scheduler.after(0, () => this.whenRunning(work));
  }

  /** Runs what arrived at the server: at once, or after its pause. */
  whenRunning(work: () => void): void {
    if (this.arrived) this.arrived.push(work);
    else work();
  }

  /** Stops the server. What is committed is on disk. */
  stop(): void {
    this.isUp = false;
    for (const session of [...this.sessions]) this.close(session, 'the server was stopped');
  }

  start(): void {
    this.isUp = true;
  }

  /**
   * Remembers what is committed, as a standby that lags does.
   * @returns what promotes that standby: later commits are lost
   */
  lag(): () => void {
    const contents = this.options.engine.committed();
    return () => {
      this.stop();
      this.options.engine.restore(contents);
      this.promotions++;
      this.start();
    };
  }

  open(onClose: (reason: string) => void): ServerSession {
    const session: ServerSession = {
      transaction: null,
      activeMs: this.options.scheduler.nowMs,
      isExecuting: false,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      isFailed: false,
      hasWatermark: false,
      isClosed: false,
      onClose,
    };
    this.sessions.add(session);
    return session;
  }

  /** The client's end is closed. */
  end(session: ServerSession): void {
    session.isClosed = true;
    this.sessions.delete(session);
    this.rollback(session);
  }

  private close(session: ServerSession, reason: string): void {
    this.end(session);
    session.onClose(reason);
  }

  begin(session: ServerSession, access: 'read' | 'write', lockTimeoutMs = LOCK_TIMEOUT_MS): void {
    this.rollback(session);
    session.lockTimeoutMs = lockTimeoutMs;
    session.transaction = new Transaction(this.options.engine, access);
    session.isFailed = false;
    session.hasWatermark = false;
    this.touch(session);
  }

  /** @returns the command that was run: a failed transaction is rolled back instead */
  commit(session: ServerSession): 'COMMIT' | 'ROLLBACK' | SqlError {
    const { transaction } = session;
    if (!transaction || session.isFailed) {
      this.rollback(session);
      return 'ROLLBACK';
    }
    const { hasChanges } = transaction;
    if (hasChanges) this.takeEngine(session);
    try {
      transaction.commit();
      if (hasChanges && this.lostResponses > 0 && this.options.random() < this.lostResponses)
        this.close(session, 'the connection was lost');
      return 'COMMIT';
    } catch (error) {
      if (error instanceof SqlError) return error;
      throw error;
    } finally {
      session.transaction = null;
      if (this.holder === session) this.holder = null;
    }
  }

  rollback(session: ServerSession): void {
    session.transaction?.rollback();
    session.transaction = null;
    if (this.holder === session) this.holder = null;
  }

  execute(session: ServerSession, text: string, params: SqlValue[], answer: Reply): void {
    const { scheduler, random } = this.options;
    const startMs = scheduler.nowMs;
    const patienceMs =
      random() < SAME_ROW_PROBABILITY
        ? Number.POSITIVE_INFINITY
        : random() * DIFFERENT_ROWS_WAIT_MAX_MS;
    session.isExecuting = true;
    const reply: Reply = (result) => {
      session.isExecuting = false;
      this.touch(session);
      answer(result);
    };
    const attempt = (): void => {
      if (session.isClosed) return;
      const { transaction } = session;
      if (!transaction || session.isFailed) {
        reply(new SqlError('25P02', 'the transaction is aborted'));
        return;
      }
      if (transaction.needsEngine(text) && this.isBusyFor(session, patienceMs)) {
        if (text.includes(SKIP_LOCKED) && this.mayBeLocked(text) && random() < 0.5) {
          reply(NO_ROWS);
          return;
        }
        if (scheduler.nowMs - startMs < session.lockTimeoutMs) {
          scheduler.after(WAIT_STEP_MS, () => this.whenRunning(attempt));
          return;
        }
        this.fail(session);
        reply(new SqlError('55P03', 'canceling statement due to lock timeout'));
        return;
      }
      reply(this.run(session, transaction, text, params));
    };
    const pauseMs = this.slownessMs > 0 ? random() * this.slownessMs : 0;
    if (pauseMs > 0) scheduler.after(pauseMs, () => this.whenRunning(attempt));
    else attempt();
  }

  private run(
    session: ServerSession,
    transaction: Transaction,
    text: string,
    params: SqlValue[],
  ): Rows<unknown> | SqlError {
    try {
      if (!transaction.needsEngine(text)) return transaction.read(text, params);
      if (this.deadlocks > 0 && this.options.random() < this.deadlocks) {
        throw new SqlError('40P01', 'deadlock detected');
      }
      this.takeEngine(session);
      if (text.includes(WATERMARK)) session.hasWatermark = true;
      return transaction.write(text, params);
    } catch (error) {
      this.fail(session);
      if (error instanceof SqlError) return error;
      const { code = '', message } = error as { code?: string; message: string };
      if (code.startsWith('SQLITE_CONSTRAINT')) {
        return new SqlError(code.includes('FOREIGNKEY') ? '23503' : '23505', message);
      }
      return new SqlError('XX000', `${message}: ${text}`);
    }
  }

  /** Whether the transaction that has the engine may have locked the rows of a statement. */
  private mayBeLocked(text: string): boolean {
    return !text.includes(WATERMARK) || this.holder?.hasWatermark === true;
  }

  /** Whether another transaction has the engine, and did something within this time. */
  private isBusyFor(session: ServerSession, patienceMs: number): boolean {
    const { holder } = this;
    if (!holder || holder === session || !holder.transaction?.isHolding) return false;
    return this.options.scheduler.nowMs - holder.activeMs < patienceMs;
  }

  private takeEngine(session: ServerSession): void {
    if (this.holder !== session) this.holder?.transaction?.detach();
    this.holder = session;
  }

  private fail(session: ServerSession): void {
    session.transaction?.rollback();
    session.isFailed = true;
    if (this.holder === session) this.holder = null;
  }

  /** Starts the time after which a transaction without statements is ended. */
  private touch(session: ServerSession): void {
    const { scheduler } = this.options;
    session.activeMs = scheduler.nowMs;
    const { transaction } = session;
    if (transaction === null) return;
    const endIfIdle = (): void => {
      const isIdle =
        !session.isExecuting &&
        session.activeMs <= scheduler.nowMs - IDLE_IN_TRANSACTION_TIMEOUT_MS;
      if (!isIdle || session.transaction !== transaction) return;
      this.close(session, 'terminating connection due to idle-in-transaction timeout');
    };
    scheduler.after(IDLE_IN_TRANSACTION_TIMEOUT_MS, () => this.whenRunning(endIfIdle));
  }
}
