import type { procedures as allProcedures, Store } from '../../../../server/app/procedures.ts';
import { Unavailable } from '../../../../server/platform/errors.ts';
import { runOnce } from '../../../../server/storage/sql/idempotency.ts';
import type { Idempotency, Procedure, Tx } from '../../../../server/storage/sql/procedure.ts';
import { startCallTime } from '../../../../server/storage/sql/request-budget.ts';
import { SQLITE_LOCKS, sqliteRows } from '../../../../server/storage/sql/sqlite.ts';
import type { Scheduler } from '../../scheduler.ts';
import type { Machine } from '../machine.ts';
import type { Engine } from '../postgres/engine.ts';

export interface SqliteStoreOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  readonly machine: Machine;
  readonly engine: Engine;
  readonly procedures: typeof allProcedures;
  readonly disk: SimulatedDisk;
}

/** The disk of a single process. */
export interface SimulatedDisk {
  /** Further time of each commit, ms. */
  slownessMs: number;
}

interface Call {
  readonly procedure: Procedure<unknown, unknown>;
  readonly input: unknown;
  readonly idempotency: Idempotency | null;
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Its caller got a 503. */
  isCanceled: boolean;
}

const COMMIT_MS = 1.5;
const HANDOVER_MS = 0.1;

/**
 * The database of a single process: another thread runs all calls that waited for the last commit in one
 * transaction. A process that ends loses the calls that are not committed, and the results on the way.
 */
export function createSqliteStore(options: SqliteStoreOptions): Store {
  const writer = new Writer(options);
  const calls: Record<string, unknown> = {};
  for (const [name, procedure] of Object.entries(options.procedures)) {
    calls[name] = (input: unknown, idempotency: Idempotency | null = null) =>
      writer.call(procedure as Procedure<unknown, unknown>, input, idempotency);
  }
  return calls as Store;
}

class Writer {
  private waiting: Call[] = [];
  private isBusy = false;
  private readonly tx: Tx;

  constructor(private readonly options: SqliteStoreOptions) {
    const { engine } = options;
    this.tx = {
      query: async (text, params) => engine.query(text, params ?? []),
      rows: sqliteRows,
      insertNew: async (table, rows) => engine.insertNew(table, rows),
      locks: SQLITE_LOCKS,
      timeline: '',
      monotonicMs: options.machine.runtime.monotonicMs,
    };
  }

  call(
    procedure: Procedure<unknown, unknown>,
    input: unknown,
    idempotency: Idempotency | null,
  ): Promise<unknown> {
    const time = startCallTime();
    const result = new Promise<unknown>((resolve, reject) => {
      const call: Call = { procedure, input, idempotency, resolve, reject, isCanceled: false };
      if (!procedure.noDeadline) {
        this.options.machine.runtime.setTimeout(() => {
          call.isCanceled = true;
          reject(new Unavailable('The database did not answer in time.'));
        }, time.limitMs);
      }
      this.waiting.push(call);
      if (!this.isBusy) this.begin();
    });
    return result.finally(time.end);
  }

  private begin(): void {
    const { scheduler, random, disk } = this.options;
    this.isBusy = true;
    const durationMs = HANDOVER_MS + (COMMIT_MS + disk.slownessMs) * random();
    const calls = this.waiting;
    this.waiting = [];
    scheduler.after(durationMs, () => void this.commit(calls));
  }

  private async commit(calls: readonly Call[]): Promise<void> {
    const { engine, machine, scheduler } = this.options;
    if (machine.isDead()) return;
    const settlements: (() => void)[] = [];
    engine.query('begin immediate', []);
    for (const call of calls) {
      if (!call.isCanceled) settlements.push(await this.execute(call));
    }
    engine.query('commit', []);
    scheduler.after(HANDOVER_MS, () =>
      machine.run(() => {
        for (const settle of settlements) settle();
      }),
    );
    this.isBusy = false;
    if (this.waiting.length > 0) this.begin();
  }

  /** @returns what tells the caller the result */
  private async execute(call: Call): Promise<() => void> {
    const { engine } = this.options;
    const { procedure, input, idempotency, resolve, reject } = call;
    const work = () => procedure.run(this.tx, input);
    engine.query('savepoint a_call', []);
    try {
      const output = await (idempotency ? runOnce(this.tx, idempotency, work) : work());
      engine.query('release a_call', []);
      return () => resolve(output);
    } catch (error) {
      engine.query('rollback to a_call', []);
      engine.query('release a_call', []);
      return () => reject(error);
    }
  }
}
