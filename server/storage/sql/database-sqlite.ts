import { DomainError, Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls, Database, Idempotency, Procedures } from './procedure.ts';
import { type CallTime, startCallTime } from './request-budget.ts';
import type { Command, Outcome, WorkerReply, WorkerRequest } from './sqlite-worker.ts';

export interface SqliteDatabaseOptions<P extends Procedures> {
  readonly procedures: P;
  /** Module that runs the procedures in a worker thread. */
  readonly worker: URL;
  readonly directory: string;
  /** Called when a worker thread of the open database fails; nothing can be written from then on. */
  readonly onFailed: (reason: string) => void;
}

/** Calls beyond these are rejected immediately: half a second of work at 100,000 writes a second. */
const QUEUE_MAX = 50_000;
/** Calls without a deadline are counted separately: one sealing, and one page of each export. */
const NO_DEADLINE_QUEUE_MAX = 1_000;
/** Interval of the check for expired calls: a call can exceed its time by this much. */
const SWEEP_MS = 50;
/** More than the calls that may wait in the worker, which answers them in the order of their numbers. */
const SLOTS = 65_536;

interface Pending {
  resolve(output: unknown): void;
  reject(error: Error): void;
  readonly deadlineMs: number;
  readonly time: CallTime;
}

/** A worker thread and the calls that were sent to it. */
class Connection {
  private readonly worker: Worker;
  private readonly pending = new Map<number, Pending>();
  private outgoing: Command[] = [];
  // Calls that the worker has not answered. This includes calls past their deadline; otherwise the
  // queue of a stalled worker would have no bound.
  private queued = 0;
  private noDeadlineQueued = 0;
  private readonly cancelled = new Uint8Array(new SharedArrayBuffer(SLOTS));
  private nextId = 0;
  private failure: string | null = null;
  private readonly sweep: Timer;
  private opened: { resolve(): void; reject(error: Error): void } | null = null;
  private closed: (() => void) | null = null;

  constructor(
    url: URL,
    private readonly onFailed: (reason: string) => void,
  ) {
    this.worker = new Worker(url);
    this.worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => this.receive(data);
    this.worker.onerror = (event) => this.fail(event.message);
    this.sweep = runtime.setInterval(() => this.expire(runtime.monotonicMs()), SWEEP_MS);
  }

  open(directory: string, access: 'read' | 'write'): Promise<void> {
    return new Promise((resolve, reject) => {
      this.opened = { resolve, reject };
      this.post({ open: directory, access, cancelled: this.cancelled });
    });
  }

  call(name: string, input: unknown, idempotency: Idempotency | null, noDeadline: boolean) {
    return new Promise<unknown>((resolve, reject) => {
      if (this.failure)
        return reject(new Unavailable(`The database is unavailable: ${this.failure}.`));
      const isFull = noDeadline
        ? this.noDeadlineQueued >= NO_DEADLINE_QUEUE_MAX
        : this.queued >= QUEUE_MAX;
      if (isFull) return reject(new Unavailable('The database is busy.'));
      if (noDeadline) this.noDeadlineQueued++;
      else this.queued++;
      const id = this.nextId++;
      const time = startCallTime();
      const deadlineMs = noDeadline
        ? Number.POSITIVE_INFINITY
        : runtime.monotonicMs() + time.limitMs;
      this.pending.set(id, { resolve, reject, deadlineMs, time });
      // All calls of one turn of the event loop go in one message.
      if (this.outgoing.push({ id, name, input, idempotency }) === 1)
        runtime.setImmediate(this.flush);
    });
  }

  size(): number {
    return this.queued + this.noDeadlineQueued;
  }

  async close(): Promise<void> {
    if (!this.failure) {
      this.flush();
      this.failure = 'it is closed';
      await new Promise<void>((resolve) => {
        this.closed = resolve;
        this.post({ close: true });
      });
    }
    runtime.clearTimer(this.sweep);
    this.worker.terminate();
  }

  private readonly flush = (): void => {
    if (this.outgoing.length === 0) return;
    const commands = this.outgoing;
    this.outgoing = [];
    this.post({ commands });
  };

  private post(message: WorkerRequest): void {
    this.worker.postMessage(message);
  }

  private receive(reply: WorkerReply): void {
    if ('outcomes' in reply) for (const outcome of reply.outcomes) this.settle(outcome);
    else if ('closed' in reply) this.closed?.();
    else {
      if ('ready' in reply) this.opened?.resolve();
      else this.opened?.reject(new Error(reply.failed));
      this.opened = null;
    }
  }

  private settle(outcome: Outcome): void {
    const call = this.pending.get(outcome.id);
    if (call?.deadlineMs === Number.POSITIVE_INFINITY) this.noDeadlineQueued--;
    else this.queued--;
    if (!call || 'cancelled' in outcome) {
      // The caller got a 503 at the deadline.
      Atomics.store(this.cancelled, outcome.id % SLOTS, 0);
      return;
    }
    call.time.end();
    this.pending.delete(outcome.id);
    if ('output' in outcome) call.resolve(outcome.output);
    else if ('errorKind' in outcome)
      call.reject(new DomainError(outcome.errorKind, outcome.detail, outcome.members));
    else call.reject(new Unavailable(`The database failed: ${outcome.failure}.`));
  }

  // Calls of a request that called before have less time than others, so all are checked.
  private expire(nowMs: number): void {
    for (const [id, call] of this.pending) {
      if (call.deadlineMs > nowMs) continue;
      call.time.end();
      this.pending.delete(id);
      // Cancel before the rejection: a rejected call must not run later, unless it has started.
      Atomics.store(this.cancelled, id % SLOTS, 1);
      call.reject(new Unavailable('The database did not answer in time.'));
    }
  }

  private fail(reason: string): void {
    this.failure = reason;
    for (const call of this.pending.values()) {
      call.reject(new Unavailable(`The database is unavailable: ${reason}.`));
    }
    this.pending.clear();
    this.queued = 0;
    this.noDeadlineQueued = 0;
    if (this.closed) this.closed();
    else if (this.opened) this.opened.reject(new Error(reason));
    else this.onFailed(reason);
  }
}

/**
 * Opens the database in SQLite. One thread writes and another reads, so that a long export and a commit
 * do not wait for each other.
 * @throws Error when the directory cannot be opened or its database is from a newer version
 */
export async function openSqliteDatabase<P extends Procedures>(
  options: SqliteDatabaseOptions<P>,
): Promise<Database<P>> {
  const writer = new Connection(options.worker, options.onFailed);
  const reader = new Connection(options.worker, options.onFailed);
  try {
    await writer.open(options.directory, 'write');
    await reader.open(options.directory, 'read');
  } catch (error) {
    await Promise.all([writer.close(), reader.close()]);
    throw error;
  }
  const calls: Record<string, unknown> = {};
  for (const [name, { access, noDeadline, codec }] of Object.entries(options.procedures)) {
    const connection = access === 'write' ? writer : reader;
    const call = (input: unknown, idempotency: Idempotency | null = null) =>
      connection.call(name, input, idempotency, noDeadline);
    calls[name] = codec
      ? async (input: unknown, idempotency: Idempotency | null = null) =>
          codec.decodeOutput(await call(codec.encodeInput(input), idempotency))
      : call;
  }
  return {
    store: calls as Calls<P>,
    pending: () => writer.size() + reader.size(),
    async close() {
      await Promise.all([writer.close(), reader.close()]);
    },
  };
}
