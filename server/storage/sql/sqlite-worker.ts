import { DomainError, type DomainErrorKind } from '../../platform/errors.ts';
import { runOnce } from './idempotency.ts';
import type { Idempotency, Procedures } from './procedure.ts';
import {
  inSnapshot,
  inTransaction,
  openMigratedSqlite,
  openSqlite,
  type Sqlite,
} from './sqlite.ts';

/** A call of a procedure on its way to the worker. */
export interface Command {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
  readonly idempotency: Idempotency | null;
  /** Its caller waits for the outcome however long it takes, so it is never dropped. */
  readonly patient: boolean;
}

/** What became of a command. */
export type Outcome =
  | { readonly id: number; readonly output: unknown }
  | {
      readonly id: number;
      readonly refusal: DomainErrorKind;
      readonly detail: string;
      readonly members: DomainError['members'];
    }
  | { readonly id: number; readonly failure: string }
  /** It was not carried out: its caller had been told so before its turn came. */
  | { readonly id: number; readonly dropped: true };

export type WorkerRequest =
  | {
      readonly open: string;
      readonly access: 'read' | 'write';
      /**
       * Shared memory with one number: commands with a lower id, unless they are patient, were
       * given up by their callers and are not carried out any more. A message would wait in line
       * behind the commands it is about, and the threads have no clock in common.
       */
      readonly givenUp: BigInt64Array;
    }
  | { readonly commands: readonly Command[] }
  | { readonly close: true };

export type WorkerReply =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly outcomes: readonly Outcome[] }
  | { readonly closed: true };

// A bound on one group: a full group of single writes commits in about 10 ms.
const GROUP_MAX = 1_000;

type IsDead = (command: Command) => boolean;

/** Carries out a command in the transaction that is open. @throws what its procedure throws */
async function carryOut(
  sqlite: Sqlite,
  procedures: Procedures,
  { id, name, input, idempotency }: Command,
): Promise<Outcome> {
  const run = () => runNamed(sqlite, procedures, name, input);
  return { id, output: await (idempotency ? runOnce(sqlite, idempotency, run) : run()) };
}

/** The same, but what it throws undoes what it did and nothing else, and is its outcome. */
async function carryOutApart(
  sqlite: Sqlite,
  procedures: Procedures,
  command: Command,
): Promise<Outcome> {
  await sqlite.query('savepoint command');
  try {
    const outcome = await carryOut(sqlite, procedures, command);
    await sqlite.query('release command');
    return outcome;
  } catch (error) {
    await sqlite.query('rollback to command');
    await sqlite.query('release command');
    return failureOf(command.id, command.name, error);
  }
}

/**
 * Runs the commands in one transaction; outcomes are told only after it is committed. At first without a
 * savepoint for each, for which SQLite copies every page that a command changes; when one throws, all
 * are undone and run again with them.
 */
async function commitGroup(
  sqlite: Sqlite,
  procedures: Procedures,
  group: readonly Command[],
  isDead: IsDead,
): Promise<Outcome[]> {
  let hasThrown = false;
  const together: typeof carryOut = (...given) =>
    carryOut(...given).catch((error) => {
      hasThrown = true;
      throw error;
    });
  const commit = (carry: typeof carryOut) =>
    inTransaction(sqlite, async () => {
      const outcomes: Outcome[] = [];
      for (const command of group) {
        // Asked here and not before: to begin may have taken seconds, and so may the one before.
        outcomes.push(
          isDead(command)
            ? { id: command.id, dropped: true }
            : await carry(sqlite, procedures, command),
        );
      }
      return outcomes;
    });
  try {
    return await commit(together).catch((error) => {
      if (hasThrown) return commit(carryOutApart);
      throw error;
    });
  } catch (error) {
    const failure = messageOf(error);
    return group.map(({ id }) => ({ id, failure }));
  }
}

/**
 * Runs the commands on one view of the database, taken after all of them were called: each sees
 * everything that was acknowledged before, and nothing changes between its statements.
 */
async function readGroup(
  sqlite: Sqlite,
  procedures: Procedures,
  group: readonly Command[],
  isDead: IsDead,
): Promise<Outcome[]> {
  try {
    return await inSnapshot(sqlite, async () => {
      const outcomes: Outcome[] = [];
      for (const command of group) {
        const { id, name, input } = command;
        if (isDead(command)) {
          outcomes.push({ id, dropped: true });
          continue;
        }
        try {
          outcomes.push({ id, output: await runNamed(sqlite, procedures, name, input) });
        } catch (error) {
          outcomes.push(failureOf(id, name, error));
        }
      }
      return outcomes;
    });
  } catch (error) {
    const failure = messageOf(error);
    return group.map(({ id }) => ({ id, failure }));
  }
}

async function runNamed(
  sqlite: Sqlite,
  procedures: Procedures,
  name: string,
  input: unknown,
): Promise<unknown> {
  const procedure = procedures[name];
  if (!procedure) throw new Error('there is no such procedure');
  const { run, wire } = procedure;
  if (!wire) return run(sqlite, input);
  return wire.packOutput(await run(sqlite, wire.unpackInput(input)));
}

function failureOf(id: number, name: string, error: unknown): Outcome {
  if (error instanceof DomainError) {
    return { id, refusal: error.kind, detail: error.message, members: error.members };
  }
  return { id, failure: `${name}: ${messageOf(error)}` };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Serves procedures inside a worker thread: the disk's pace is this thread's, never the
 * event loop's that answers viewers. Commands that arrive during a commit share the next one.
 */
export function serveSqlite(scope: Worker, procedures: Procedures): void {
  const queue: Command[] = [];
  let sqlite: Sqlite | null = null;
  let work = commitGroup;
  let running = false;
  let closing = false;
  let givenUp: BigInt64Array | null = null;
  const isDead: IsDead = ({ id, patient }) =>
    !patient && givenUp !== null && id < Number(Atomics.load(givenUp, 0));
  const reply = (message: WorkerReply) => scope.postMessage(message);

  async function drain(connection: Sqlite): Promise<void> {
    running = true;
    while (queue.length > 0) {
      reply({ outcomes: await work(connection, procedures, queue.splice(0, GROUP_MAX), isDead) });
      // Let what arrived meanwhile into the queue, so that it shares the next commit.
      await new Promise(setImmediate);
    }
    running = false;
    if (closing) {
      await connection.close();
      reply({ closed: true });
    }
  }

  scope.onmessage = async ({ data }: MessageEvent<WorkerRequest>) => {
    if ('open' in data) {
      try {
        givenUp = data.givenUp;
        const writes = data.access === 'write';
        work = writes ? commitGroup : readGroup;
        sqlite = await (writes ? openMigratedSqlite : openSqlite)(data.open);
        reply({ ready: true });
      } catch (error) {
        reply({ failed: messageOf(error) });
      }
      return;
    }
    if ('close' in data) closing = true;
    else queue.push(...data.commands);
    // Without a connection it could not be opened, and there is nothing to close.
    if (!sqlite) reply({ closed: true });
    else if (!running) await drain(sqlite);
  };
}
