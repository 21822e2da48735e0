import { DomainError, Unavailable } from '../../platform/errors.ts';
import type { Calls, Database, Idempotency, Procedures } from './procedure.ts';
import type { Command, Outcome, WorkerReply, WorkerRequest } from './sqlite-worker.ts';

export interface SqliteDatabaseOptions<P extends Procedures> {
  readonly procedures: P;
  /** The module that serves the procedures in a worker thread. */
  readonly worker: URL;
  readonly directory: string;
  /** Told when a worker thread of an open record is gone: nothing can be recorded any more. */
  readonly onLost: (reason: string) => void;
}

// Beyond this a call is refused at once: at 100,000 writes a second it is half a second of work.
const QUEUED_MAX = 50_000;
// Patient calls, which have no deadline, wait beside a full queue; they are one sealing and a page of
// each export.
const PATIENT_MAX = 1_000;
// I7: a caller hears 503 in under a second. The sweep below adds up to SWEEP_MS.
const DEADLINE_MS = 800;
const SWEEP_MS = 50;

interface Pending {
  resolve(output: unknown): void;
  reject(error: Error): void;
  readonly deadlineMs: number;
}

/** One worker thread and the calls on their way to it. */
class Connection {
  private readonly worker: Worker;
  private readonly pending = new Map<number, Pending>();
  private outgoing: Command[] = [];
  // What the worker has not answered, its caller waiting or not: without the second kind, the queue
  // of a worker that is held up would have no bound.
  private queued = 0;
  private patientQueued = 0;
  private readonly givenUp = new BigInt64Array(new SharedArrayBuffer(8));
  private nextId = 0;
  private lost: string | null = null;
  private readonly sweep: Timer;
  private opened: { resolve(): void; reject(error: Error): void } | null = null;
  private closed: (() => void) | null = null;

  constructor(
    url: URL,
    private readonly onLost: (reason: string) => void,
  ) {
    this.worker = new Worker(url);
    this.worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => this.receive(data);
    this.worker.onerror = (event) => this.lose(event.message);
    this.sweep = setInterval(() => this.expire(performance.now()), SWEEP_MS);
  }

  open(directory: string, access: 'read' | 'write'): Promise<void> {
    return new Promise((resolve, reject) => {
      this.opened = { resolve, reject };
      this.post({ open: directory, access, givenUp: this.givenUp });
    });
  }

  call(name: string, input: unknown, idempotency: Idempotency | null, patient: boolean) {
    return new Promise<unknown>((resolve, reject) => {
      if (this.lost) return reject(new Unavailable(`The database is unavailable: ${this.lost}.`));
      const isFull = patient ? this.patientQueued >= PATIENT_MAX : this.queued >= QUEUED_MAX;
      if (isFull) return reject(new Unavailable('The database is busy.'));
      if (patient) this.patientQueued++;
      else this.queued++;
      const id = this.nextId++;
      const deadlineMs = patient ? Number.POSITIVE_INFINITY : performance.now() + DEADLINE_MS;
      this.pending.set(id, { resolve, reject, deadlineMs });
      // One message for all calls of this turn of the event loop.
      if (this.outgoing.push({ id, name, input, idempotency, patient }) === 1)
        setImmediate(this.flush);
    });
  }

  size(): number {
    return this.queued + this.patientQueued;
  }

  async close(): Promise<void> {
    if (!this.lost) {
      this.flush();
      this.lost = 'it is closed';
      await new Promise<void>((resolve) => {
        this.closed = resolve;
        this.post({ close: true });
      });
    }
    clearInterval(this.sweep);
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
    if (call?.deadlineMs === Number.POSITIVE_INFINITY) this.patientQueued--;
    else this.queued--;
    if (!call || 'dropped' in outcome) return; // Its caller was told 503 at the deadline.
    this.pending.delete(outcome.id);
    if ('output' in outcome) call.resolve(outcome.output);
    else if ('refusal' in outcome)
      call.reject(new DomainError(outcome.refusal, outcome.detail, outcome.members));
    else call.reject(new Unavailable(`The database failed: ${outcome.failure}.`));
  }

  // Calls are kept in the order they were made, so the sweep stops at the first young one.
  private expire(nowMs: number): void {
    for (const [id, call] of this.pending) {
      if (call.deadlineMs === Number.POSITIVE_INFINITY) continue;
      if (call.deadlineMs > nowMs) return;
      this.pending.delete(id);
      // First, so that what was refused is not carried out after all, unless it was begun before.
      Atomics.store(this.givenUp, 0, BigInt(id + 1));
      call.reject(new Unavailable('The database did not answer in time.'));
    }
  }

  private lose(reason: string): void {
    this.lost = reason;
    for (const call of this.pending.values()) {
      call.reject(new Unavailable(`The database is unavailable: ${reason}.`));
    }
    this.pending.clear();
    this.queued = 0;
    this.patientQueued = 0;
    if (this.closed) this.closed();
    else if (this.opened) this.opened.reject(new Error(reason));
    else this.onLost(reason);
  }
}

/**
 * Opens the database in SQLite: one thread commits, another reads, so that a long export never
 * waits for a commit nor a commit for it.
 * @throws Error when the directory cannot be opened or holds a newer record.
 */
export async function openSqliteDatabase<P extends Procedures>(
  options: SqliteDatabaseOptions<P>,
): Promise<Database<P>> {
  const writer = new Connection(options.worker, options.onLost);
  const reader = new Connection(options.worker, options.onLost);
  try {
    await writer.open(options.directory, 'write');
    await reader.open(options.directory, 'read');
  } catch (error) {
    await Promise.all([writer.close(), reader.close()]);
    throw error;
  }
  const calls: Record<string, unknown> = {};
  for (const [name, { access, patient, wire }] of Object.entries(options.procedures)) {
    const connection = access === 'write' ? writer : reader;
    const call = (input: unknown, idempotency: Idempotency | null = null) =>
      connection.call(name, input, idempotency, patient);
    calls[name] = wire
      ? async (input: unknown, idempotency: Idempotency | null = null) =>
          wire.unpackOutput(await call(wire.packInput(input), idempotency))
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
