import type { Logger } from 'pino';
import { DomainError, Unavailable } from '../../platform/errors.ts';
import { LogLimiter } from '../../platform/log-limiter.ts';
import { runtime } from '../../platform/runtime.ts';
import {
  type OpenSession,
  openSession as openPostgresSession,
  type PostgresSession,
  READ_ONLY,
} from './postgres.ts';
import { type Call, CallQueue } from './postgres-calls.ts';
import { isReadOnly, type Remedy, remedyOf } from './postgres-errors.ts';
import { HealthCheck, TICK_MS } from './postgres-health-check.ts';
import { transact } from './postgres-transaction.ts';

const CONNECT_TIMEOUT_MS = 1_000;
/** Wait between attempts to reach an unavailable server. */
const RECONNECT_MS = 200;
/** Wait before the next call when the server accepts no further connection. */
const NO_SESSION_WAIT_MS = 100;
const ATTEMPTS_MAX = 4;
/** Random wait before a retry, so that conflicting transactions do not conflict again. */
const RETRY_JITTER_MS = 20;
/** After a tick this late, deadlines are not enforced: responses may have arrived, unread. */
const TICK_LATE_MS = 100;
/** The server ends every statement earlier; after this, the connection is broken. */
const STUCK_STATEMENT_MS = 12_000;

/** Place of one connection in the pool. */
interface Slot {
  session: PostgresSession | null;
}

/**
 * Runs calls on a few connections, and tracks whether the server is available. All calls but exports are rejected
 * 250 ms after the last response of the server, and immediately from then on.
 */
export class PostgresPool {
  private readonly queue: CallQueue;
  private readonly health = new HealthCheck();
  /** By procedure. */
  private readonly errorLog = new LogLimiter<string>();
  private readonly slots: Slot[];
  private readonly idle: Slot[];
  // Runs no calls, so that a probe never waits behind a slow statement or a lock.
  private probeSession: PostgresSession | null = null;
  private isProbing = false;
  /** What is wrong with the server; null: it works. */
  private outage: string | null = null;
  private isClosed = false;
  private lastTickMs = runtime.monotonicMs();
  private timer: Timer | null = null;
  private onEmpty: (() => void) | null = null;

  constructor(
    private readonly url: string,
    private readonly logger: Logger,
    connections: number,
    /** Opens a session; the simulation replaces it. */
    private readonly openSession: OpenSession = openPostgresSession,
  ) {
    this.queue = new CallQueue(connections);
    this.slots = Array.from({ length: connections }, () => ({ session: null }));
    this.idle = [...this.slots];
  }

  /** Opens the first connection. @throws the errors of `openSession` */
  async open(): Promise<void> {
    this.probeSession = await this.connect();
    this.lastTickMs = runtime.monotonicMs();
    this.timer = runtime.setInterval(() => this.tick(runtime.monotonicMs()), TICK_MS);
  }

  /** Queues a call, or rejects it while the server is unavailable. */
  submit(call: Call): void {
    if (this.isClosed) call.reject(new Unavailable('The database is unavailable: it is closed.'));
    else if (this.outage !== null && !call.waitsForServer) call.reject(unavailableError());
    else {
      this.queue.add(call);
      this.dispatch();
    }
  }

  size(): number {
    return this.queue.size();
  }

  unavailableReason(): string | null {
    return this.outage;
  }

  /** Runs the queued calls, unless the server is unavailable, and closes the connections. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.outage !== null) this.queue.rejectPending(unavailableError, true);
    if (this.queue.size() > 0) {
      await new Promise<void>((resolve) => {
        this.onEmpty = resolve;
      });
    }
    if (this.timer) runtime.clearTimer(this.timer);
    this.timer = null;
    await Promise.all(
      [this.probeSession, ...this.slots.map((slot) => slot.session)].map((s) => s?.end()),
    );
  }

  private connect(): Promise<PostgresSession> {
    return this.openSession({
      url: this.url,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      onResponse: () => this.health.onResponse(),
    });
  }

  private dispatch(): void {
    while (this.idle.length > 0 && this.outage === null) {
      const call = this.queue.next();
      if (!call) return;
      void this.process(this.takeSlot(), call);
    }
  }

  // Prefers a slot that is connected: the server may accept no further connection.
  private takeSlot(): Slot {
    const connected = this.idle.findLastIndex(({ session }) => session?.failure() === null);
    return this.idle.splice(connected, 1)[0] as Slot;
  }

  private async process(slot: Slot, call: Call): Promise<void> {
    const isProcessed = await this.execute(slot, call);
    // A sealing waits for a connection that is in use, and for no other.
    const canWait =
      !call.isSealing || this.slots.some(({ session }) => session?.failure() === null);
    if (!isProcessed && !call.isSettled && !canWait) call.reject(unavailableError());
    if (isProcessed || call.isSettled) this.queue.release(call);
    else this.queue.requeue(call);
    if (!isProcessed) await runtime.sleep(NO_SESSION_WAIT_MS);
    this.idle.push(slot);
    this.dispatch();
    if (this.queue.size() === 0) this.onEmpty?.();
  }

  /** @returns false when the call must wait: there is no connection, or the server is read-only */
  private async execute(slot: Slot, call: Call): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.sessionOf(slot);
      if (!session) return false;
      try {
        if (!call.isSettled) await transact(session, call);
        return true;
      } catch (error) {
        if (error instanceof DomainError || error instanceof Unavailable) {
          call.reject(error);
          return true;
        }
        // No retry: four connections would take 0.8 s to fail alike. Reads run in read-only transactions, so the
        // same error of a read is a defect of this program.
        if (isReadOnly(error) && call.procedure.access === 'write') {
          this.markUnavailable(READ_ONLY);
          return false;
        }
        const remedy = session.failure() === null ? remedyOf(error) : 'reconnect';
        if (remedy === 'timeout' || remedy === 'none' || attempt === ATTEMPTS_MAX) {
          call.reject(this.errorFor(call, error as Error, remedy));
          return true;
        }
        if (remedy === 'reconnect') session.drop('the connection is not usable');
        await runtime.sleep(runtime.random() * RETRY_JITTER_MS);
      }
    }
  }

  /** The error for the caller of a call that is not retried. */
  private errorFor({ name }: Call, error: Error, remedy: Remedy): Unavailable {
    if (remedy === 'timeout') return new Unavailable('The database did not answer in time.');
    // A retry would fail the same way, so the operator has to know.
    const count = remedy === 'none' ? this.errorLog.countToLog(name) : 0;
    if (count > 0) this.logger.error({ err: error, call: name, count }, 'a call failed');
    return new Unavailable(`The database failed: ${name}: ${error.message}.`);
  }

  /** The session of the slot, opened if necessary; null when no connection is possible now. */
  private async sessionOf(slot: Slot): Promise<PostgresSession | null> {
    if (slot.session?.failure() === null) return slot.session;
    slot.session = null;
    if (this.outage !== null) return null;
    try {
      slot.session = await this.connect();
    } catch (error) {
      this.onConnectError(error as Error);
    }
    return slot.session;
  }

  // A server that accepts no further connection is available while it keeps its other connections.
  private onConnectError({ message }: Error): void {
    const sessions = [this.probeSession, ...this.slots.map(({ session }) => session)];
    if (!sessions.some((session) => session?.failure() === null)) this.markUnavailable(message);
  }

  private tick(nowMs: number): void {
    const isLate = nowMs - this.lastTickMs > TICK_MS + TICK_LATE_MS;
    this.lastTickMs = nowMs;
    if (this.outage !== null) return;
    if (!isLate) {
      this.queue.expire(nowMs);
      // An account whose writes have expired may have others that wait.
      this.dispatch();
      for (const { session } of this.slots) {
        const sinceMs = session?.pendingSinceMs() ?? nowMs;
        if (nowMs - sinceMs > STUCK_STATEMENT_MS) session?.drop('no response');
      }
    }
    const hasPending = this.isProbing || this.idle.length < this.slots.length;
    const state = this.health.tick(hasPending);
    if (state === 'probe') void this.probe();
    else if (state === 'unavailable') this.markUnavailable('it does not respond');
  }

  private async probe(): Promise<void> {
    if (this.isProbing) return;
    this.isProbing = true;
    try {
      if (this.probeSession?.failure() !== null) this.probeSession = await this.connect();
      if (this.isClosed) return await this.probeSession.end();
      await this.probeSession.run('select 1');
    } catch (error) {
      this.onConnectError(error as Error);
    } finally {
      this.isProbing = false;
    }
  }

  private markUnavailable(reason: string): void {
    if (this.outage !== null) return;
    this.outage = reason;
    this.logger.warn({ reason }, 'PostgreSQL is unavailable');
    this.queue.rejectPending(unavailableError, this.isClosed);
    this.probeSession?.drop(reason);
    for (const { session } of this.slots) session?.drop(reason);
    void this.reconnect(runtime.monotonicMs());
  }

  private async reconnect(sinceMs: number): Promise<void> {
    while (!this.isClosed) {
      await runtime.sleep(RECONNECT_MS);
      try {
        this.probeSession = await this.connect();
        if (this.isClosed) return this.probeSession.drop('it is closed');
        this.outage = null;
        const unavailableMs = Math.round(runtime.monotonicMs() - sinceMs);
        this.logger.info({ unavailableMs }, 'PostgreSQL is available again');
        this.dispatch();
        return;
      } catch (error) {
        this.outage = (error as Error).message;
      }
    }
  }
}

// The reason may contain addresses: it goes to the log, not to clients.
function unavailableError(): Unavailable {
  return new Unavailable('The database is unavailable.');
}
