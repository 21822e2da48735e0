import type { Logger } from 'pino';
import { DomainError, Unavailable } from '../../platform/errors.ts';
import { openSession, type PostgresSession } from './postgres.ts';
import { type Call, CallQueue } from './postgres-calls.ts';
import { type Remedy, remedyOf } from './postgres-errors.ts';
import { Pulse, TURN_MS } from './postgres-pulse.ts';
import { transact } from './postgres-transaction.ts';

const CONNECT_MS = 1_000;
// While the server is unavailable it is tried this often.
const HEAL_MS = 200;
// A full server is not asked for a connection again sooner.
const LOOK_MS = 100;
const ATTEMPTS_MAX = 4;
// Between two attempts, at random up to this: those who met do not meet again.
const APART_MS = 20;
// A turn that is later than this says nothing about deadlines: the answers may be here, unread.
const LATE_MS = 100;
// The server ends every statement before; if not, the way to it is broken for this connection.
const STUCK_MS = 12_000;

/** A connection and what it is doing. */
interface Lane {
  session: PostgresSession | null;
}

/**
 * Carries out calls on a few connections, and knows at any time whether the server is there: calls
 * that are not patient are refused 250 ms after its last sign of life, and at once from then on.
 */
export class PostgresPool {
  private readonly queue: CallQueue;
  private readonly pulse = new Pulse();
  private readonly lanes: Lane[];
  private readonly idle: Lane[];
  // It carries no calls: what is asked on it does not wait behind a slow statement or a lock.
  private heart: PostgresSession | null = null;
  private isAsking = false;
  private unavailableBecause: string | null = null;
  private isClosed = false;
  private turnAtMs = performance.now();
  private timer: Timer | null = null;
  private onEmpty: (() => void) | null = null;

  constructor(
    private readonly url: string,
    private readonly logger: Logger,
    connections: number,
  ) {
    this.queue = new CallQueue(connections);
    this.lanes = Array.from({ length: connections }, () => ({ session: null }));
    this.idle = [...this.lanes];
  }

  /** Makes the first connection. @throws whatever its opening throws */
  async open(): Promise<void> {
    this.heart = await this.connect();
    this.turnAtMs = performance.now();
    this.timer = setInterval(() => this.turn(performance.now()), TURN_MS);
  }

  /** Takes a call in; its caller is told what became of it, or why it cannot be carried out. */
  take(call: Call): void {
    if (this.isClosed) call.reject(new Unavailable('The database is unavailable: it is closed.'));
    else if (this.unavailableBecause !== null && !call.procedure.patient)
      call.reject(isUnavailable());
    else {
      this.queue.add(call);
      this.dispatch();
    }
  }

  size(): number {
    return this.queue.size();
  }

  unavailable(): string | null {
    return this.unavailableBecause;
  }

  /** Carries out what was taken in, unless the server is unavailable, and ends the connections. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.unavailableBecause !== null) this.queue.refuse(isUnavailable, true);
    if (this.queue.size() > 0) {
      await new Promise<void>((resolve) => {
        this.onEmpty = resolve;
      });
    }
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    await Promise.all([this.heart, ...this.lanes.map((lane) => lane.session)].map((s) => s?.end()));
  }

  private connect(): Promise<PostgresSession> {
    return openSession({
      url: this.url,
      connectMs: CONNECT_MS,
      onAnswer: () => this.pulse.hear(),
    });
  }

  private dispatch(): void {
    while (this.idle.length > 0 && this.unavailableBecause === null) {
      const call = this.queue.next();
      if (!call) return;
      void this.serve(this.takeLane(), call);
    }
  }

  // One that is connected, if there is any: the server may have no place for further ones.
  private takeLane(): Lane {
    const connected = this.idle.findLastIndex(({ session }) => session?.lost() === null);
    return this.idle.splice(connected, 1)[0] as Lane;
  }

  private async serve(lane: Lane, call: Call): Promise<void> {
    const isServed = await this.carryOut(lane, call);
    if (isServed || call.isDone) this.queue.leave(call);
    else {
      this.queue.putBack(call);
      await Bun.sleep(LOOK_MS);
    }
    this.idle.push(lane);
    this.dispatch();
    if (this.queue.size() === 0) this.onEmpty?.();
  }

  /** @returns false when there was no connection for it */
  private async carryOut(lane: Lane, call: Call): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.sessionOf(lane);
      if (!session) return false;
      try {
        if (!call.isDone) await transact(session, call);
        return true;
      } catch (error) {
        if (error instanceof DomainError || error instanceof Unavailable) {
          call.reject(error);
          return true;
        }
        const remedy = session.lost() === null ? remedyOf(error) : 'reconnect';
        if (remedy === 'too slow' || remedy === 'none' || attempt === ATTEMPTS_MAX) {
          call.reject(this.failureOf(call, error as Error, remedy));
          return true;
        }
        if (remedy === 'reconnect') session.drop('it was given up');
        await Bun.sleep(Math.random() * APART_MS);
      }
    }
  }

  /** What the caller hears of an error when the call is not run again. */
  private failureOf({ name }: Call, error: Error, remedy: Remedy): Unavailable {
    if (remedy === 'too slow') return new Unavailable('The database did not answer in time.');
    // What will be the same each time needs somebody to look at it.
    if (remedy === 'none') this.logger.error({ err: error, call: name }, 'a call failed');
    return new Unavailable(`The database failed: ${name}: ${error.message}.`);
  }

  /** The lane's session, made if need be; null when there is none to be had now. */
  private async sessionOf(lane: Lane): Promise<PostgresSession | null> {
    if (lane.session?.lost() === null) return lane.session;
    lane.session = null;
    if (this.unavailableBecause !== null) return null;
    try {
      lane.session = await this.connect();
    } catch (error) {
      this.couldNotConnect(error as Error);
    }
    return lane.session;
  }

  // A server that takes no further connection lives, as long as it keeps those that it has.
  private couldNotConnect({ message }: Error): void {
    const sessions = [this.heart, ...this.lanes.map(({ session }) => session)];
    if (!sessions.some((session) => session?.lost() === null)) this.goUnavailable(message);
  }

  private turn(nowMs: number): void {
    const isLate = nowMs - this.turnAtMs > TURN_MS + LATE_MS;
    this.turnAtMs = nowMs;
    if (this.unavailableBecause !== null) return;
    if (!isLate) {
      this.queue.expire(nowMs);
      for (const { session } of this.lanes) {
        const sinceMs = session?.waitsSinceMs() ?? nowMs;
        if (nowMs - sinceMs > STUCK_MS) session?.drop('no answer');
      }
    }
    const waits = this.isAsking || this.idle.length < this.lanes.length;
    const sign = this.pulse.turn(waits);
    if (sign === 'ask') void this.ask();
    else if (sign === 'away') this.goUnavailable('it does not answer');
  }

  private async ask(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      if (this.heart?.lost() !== null) this.heart = await this.connect();
      if (this.isClosed) return await this.heart.end();
      await this.heart.run('select 1');
    } catch (error) {
      this.couldNotConnect(error as Error);
    } finally {
      this.isAsking = false;
    }
  }

  private goUnavailable(reason: string): void {
    if (this.unavailableBecause !== null) return;
    this.unavailableBecause = reason;
    this.logger.warn({ reason }, 'PostgreSQL is unavailable');
    this.queue.refuse(isUnavailable, this.isClosed);
    this.heart?.drop(reason);
    for (const { session } of this.lanes) session?.drop(reason);
    void this.heal(performance.now());
  }

  private async heal(sinceMs: number): Promise<void> {
    while (!this.isClosed) {
      await Bun.sleep(HEAL_MS);
      try {
        this.heart = await this.connect();
        if (this.isClosed) return this.heart.drop('it is closed');
        this.unavailableBecause = null;
        const unavailableMs = Math.round(performance.now() - sinceMs);
        this.logger.info({ unavailableMs }, 'PostgreSQL is back');
        this.dispatch();
        return;
      } catch (error) {
        this.unavailableBecause = (error as Error).message;
      }
    }
  }
}

// What the reason is, addresses and all, is for the log.
function isUnavailable(): Unavailable {
  return new Unavailable('The database is unavailable.');
}
