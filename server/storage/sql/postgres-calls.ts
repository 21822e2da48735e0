import { Unavailable } from '../../platform/errors.ts';
import type { Idempotency, Procedures } from './procedure.ts';

// As in SQLite: beyond this a call is refused at once. Each kind has its own, so that no number of
// exports keeps a sealing out.
const CALLS_MAX: Readonly<Record<Kind, number>> = {
  urgent: 1_000,
  ordinary: 50_000,
  export: 1_000,
};
// I7: a caller hears 503 in under a second.
const DEADLINE_MS = 800;

/** A call of a procedure, from its caller to the transaction that carries it out. */
export class Call {
  /** Its caller has been told something: it is not to be carried out any more. */
  isDone = false;
  readonly deadlineMs: number;

  constructor(
    readonly name: string,
    readonly procedure: Procedures[string],
    readonly input: unknown,
    readonly once: Idempotency | null,
    private readonly onResult: (output: unknown) => void,
    private readonly onError: (error: unknown) => void,
  ) {
    this.deadlineMs = procedure.patient
      ? Number.POSITIVE_INFINITY
      : performance.now() + DEADLINE_MS;
  }

  resolve(output: unknown): void {
    this.isDone = true;
    this.onResult(output);
  }

  reject(error: unknown): void {
    this.isDone = true;
    this.onError(error);
  }
}

/** What a call is to the connections: sealing goes first, and exports never take all of them. */
type Kind = 'urgent' | 'ordinary' | 'export';

function kindOf({ procedure: { patient, access } }: Call): Kind {
  if (!patient) return 'ordinary';
  return access === 'write' ? 'urgent' : 'export';
}

/** A first-in-first-out line whose calls may be done before their turn. */
class Line {
  private calls: Call[] = [];
  private head = 0;

  push(call: Call): void {
    this.calls.push(call);
  }

  first(): Call | undefined {
    return this.calls[this.head];
  }

  shift(): Call | undefined {
    const call = this.calls[this.head];
    if (!call) return undefined;
    this.head++;
    if (this.head > 1_000 && this.head * 2 > this.calls.length) {
      this.calls = this.calls.slice(this.head);
      this.head = 0;
    }
    return call;
  }

  unshift(call: Call): void {
    if (this.head > 0) this.calls[--this.head] = call;
    else this.calls.unshift(call);
  }

  clear(): Call[] {
    const all = this.calls.slice(this.head);
    this.calls = [];
    this.head = 0;
    return all;
  }
}

/** The calls that wait for a connection, and those that have one. */
export class CallQueue {
  private readonly lines: Record<Kind, Line> = {
    urgent: new Line(),
    ordinary: new Line(),
    export: new Line(),
  };
  private readonly running: Record<Kind, Set<Call>> = {
    urgent: new Set(),
    ordinary: new Set(),
    export: new Set(),
  };
  // Waiting and running: what was begun and given up counts until it has left its connection.
  private readonly counts: Record<Kind, number> = { urgent: 0, ordinary: 0, export: 0 };

  /** @param connections how many calls run at once */
  constructor(private readonly connections: number) {}

  /** Takes a call in, or rejects it when there are too many. */
  add(call: Call): void {
    const kind = kindOf(call);
    if (this.counts[kind] >= CALLS_MAX[kind]) {
      call.reject(new Unavailable('The database is busy.'));
      return;
    }
    this.counts[kind]++;
    this.lines[kind].push(call);
  }

  /**
   * The next call to run, if any may. One connection is kept free of all but sealing, whatever the
   * others wait for; exports have at most half.
   */
  next(): Call | undefined {
    const { ordinary, export: exports } = this.running;
    const busy = ordinary.size + exports.size;
    const hasRoom = busy < Math.max(1, this.connections - 1);
    const call =
      this.lines.urgent.shift() ??
      (hasRoom ? this.lines.ordinary.shift() : undefined) ??
      (hasRoom && exports.size < this.connections / 2 ? this.lines.export.shift() : undefined);
    if (call) this.running[kindOf(call)].add(call);
    return call;
  }

  /** There was no connection for the call: it is the next again. */
  putBack(call: Call): void {
    const kind = kindOf(call);
    this.running[kind].delete(call);
    this.lines[kind].unshift(call);
  }

  /** The call has left its connection. */
  leave(call: Call): void {
    const kind = kindOf(call);
    this.running[kind].delete(call);
    this.counts[kind]--;
  }

  /** Refuses the calls whose deadline has passed. */
  expire(nowMs: number): void {
    const late = () => new Unavailable('The database did not answer in time.');
    const line = this.lines.ordinary;
    // In the order they were made, so that the first young one ends it.
    for (let call = line.first(); call && call.deadlineMs <= nowMs; call = line.first()) {
      line.shift();
      this.counts.ordinary--;
      if (!call.isDone) call.reject(late());
    }
    for (const call of this.running.ordinary) {
      if (!call.isDone && call.deadlineMs <= nowMs) call.reject(late());
    }
  }

  /** Refuses everything that is not patient, or with `all` just everything. */
  refuse(error: () => Unavailable, all = false): void {
    const kinds: Kind[] = all ? ['urgent', 'ordinary', 'export'] : ['ordinary'];
    for (const kind of kinds) {
      for (const call of this.lines[kind].clear()) {
        this.counts[kind]--;
        if (!call.isDone) call.reject(error());
      }
      for (const call of this.running[kind]) if (!call.isDone) call.reject(error());
    }
  }

  size(): number {
    const { urgent, ordinary, export: exports } = this.counts;
    return urgent + ordinary + exports;
  }
}
