import { DomainError, type DomainErrorKind, messageOf } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import { runOnce } from './idempotency.ts';
import type { Idempotency, Procedures } from './procedure.ts';
import {
  DATABASE_FILE,
  inSnapshot,
  inTransaction,
  openMigratedSqlite,
  openSqlite,
  type Sqlite,
} from './sqlite.ts';

/** A call of a procedure, as sent to the worker. */
export interface Command {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
  readonly idempotency: Idempotency | null;
}

export type Outcome =
  | { readonly id: number; readonly output: unknown }
  | {
      readonly id: number;
      readonly errorKind: DomainErrorKind;
      readonly detail: string;
      readonly members: DomainError['members'];
    }
  | { readonly id: number; readonly failure: string }
  /** Not executed: its caller gave up before. */
  | { readonly id: number; readonly cancelled: true };

export type WorkerRequest =
  | {
      /** The data directory. */
      readonly open: string;
      readonly access: 'read' | 'write';
      /**
       * Shared memory: a command is cancelled when the byte at its id, modulo the length, is 1. A message
       * would be queued behind the commands that it cancels, and the threads have no common clock.
       */
      readonly cancelled: Uint8Array;
    }
  | { readonly commands: readonly Command[] }
  | { readonly close: true };

export type WorkerReply =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly outcomes: readonly Outcome[] }
  | { readonly closed: true };

/** Commands per transaction: a full group of single writes commits in about 10 ms. */
const GROUP_SIZE_MAX = 1_000;

/** What the commands of a worker share. */
interface CommandContext {
  readonly sqlite: Sqlite;
  readonly procedures: Procedures;
  readonly isCancelled: (command: Command) => boolean;
}

type Execute = (context: CommandContext, command: Command) => Promise<Outcome>;

/** Executes a command in the open transaction. @throws the errors of its procedure */
const execute: Execute = async (context, command) => {
  const { id, idempotency } = command;
  const run = () => runProcedure(context, command);
  return { id, output: await (idempotency ? runOnce(context.sqlite, idempotency, run) : run()) };
};

/** Like `execute`, but an error only undoes this command, and becomes its outcome. */
const executeInSavepoint: Execute = async (context, command) => {
  const { sqlite } = context;
  await sqlite.query('savepoint command');
  try {
    const outcome = await execute(context, command);
    await sqlite.query('release command');
    return outcome;
  } catch (error) {
    await sqlite.query('rollback to command');
    await sqlite.query('release command');
    return failureOutcome(command, error);
  }
};

/** Executes a command that only reads; an error becomes its outcome. */
const executeRead: Execute = async (context, command) => {
  try {
    return { id: command.id, output: await runProcedure(context, command) };
  } catch (error) {
    return failureOutcome(command, error);
  }
};

async function executeAll(
  context: CommandContext,
  group: readonly Command[],
  executeCommand: Execute,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const command of group) {
    // Checked just before the execution: the commands before it may have taken seconds.
    const isCancelled = context.isCancelled(command);
    outcomes.push(
      isCancelled ? { id: command.id, cancelled: true } : await executeCommand(context, command),
    );
  }
  return outcomes;
}

/**
 * Runs the commands in one transaction, and returns the outcomes after the commit. The first attempt
 * has no savepoints, for which SQLite would copy every changed page; when a command throws, all are
 * rolled back and run again with a savepoint each.
 */
async function commitGroup(context: CommandContext, group: readonly Command[]): Promise<Outcome[]> {
  if (context.sqlite.hasMoved()) await rejectMovedFile(context.sqlite);
  let hasThrown = false;
  const executeDirectly: Execute = (...args) =>
    execute(...args).catch((error) => {
      hasThrown = true;
      throw error;
    });
  const commit = (executeCommand: Execute) =>
    inTransaction(context.sqlite, () => executeAll(context, group, executeCommand));
  return commit(executeDirectly).catch((error) => {
    if (hasThrown) return commit(executeInSavepoint);
    throw error;
  });
}

/**
 * Nobody would find what is committed to a file that was removed or replaced. Empties its write-ahead log, which
 * SQLite would else apply to the file that is there now.
 */
async function rejectMovedFile(sqlite: Sqlite): Promise<never> {
  await sqlite.query('pragma wal_checkpoint(truncate)');
  throw new Error(
    `${DATABASE_FILE} was removed or replaced; stop the service, put the file in its place and start again`,
  );
}

/**
 * Runs the commands on one snapshot, taken after all of them were called: each sees everything that
 * was acknowledged before its call, and nothing changes between its statements.
 */
function readGroup(context: CommandContext, group: readonly Command[]): Promise<Outcome[]> {
  return inSnapshot(context.sqlite, () => executeAll(context, group, executeRead));
}

async function runProcedure(
  { sqlite, procedures }: CommandContext,
  { name, input }: Command,
): Promise<unknown> {
  const procedure = procedures[name];
  if (!procedure) throw new Error('there is no such procedure');
  const { run, codec } = procedure;
  if (!codec) return run(sqlite, input);
  return codec.encodeOutput(await run(sqlite, codec.decodeInput(input)));
}

function failureOutcome({ id, name }: Command, error: unknown): Outcome {
  if (error instanceof DomainError) {
    return { id, errorKind: error.kind, detail: error.message, members: error.members };
  }
  return { id, failure: `${name}: ${messageOf(error)}` };
}

/**
 * Runs procedures inside a worker thread, so that the disk does not block the event loop that answers
 * viewers. Commands that arrive during a commit share the next one.
 */
export function serveSqlite(scope: Worker, procedures: Procedures): void {
  const queue: Command[] = [];
  let context: CommandContext | null = null;
  let runGroup = commitGroup;
  let running = false;
  let closing = false;
  const reply = (message: WorkerReply) => scope.postMessage(message);

  async function drain(context: CommandContext): Promise<void> {
    running = true;
    while (queue.length > 0) {
      const group = queue.splice(0, GROUP_SIZE_MAX);
      const outcomes = await runGroup(context, group).catch((error): Outcome[] => {
        const failure = messageOf(error);
        return group.map(({ id }) => ({ id, failure }));
      });
      reply({ outcomes });
      // Receive the commands that arrived during the commit, so that they share the next one.
      await new Promise<void>((resolve) => runtime.setImmediate(resolve));
    }
    running = false;
    if (closing) {
      await context.sqlite.close();
      reply({ closed: true });
    }
  }

  scope.onmessage = async ({ data }: MessageEvent<WorkerRequest>) => {
    if ('open' in data) {
      try {
        const { cancelled } = data;
        const isWriter = data.access === 'write';
        runGroup = isWriter ? commitGroup : readGroup;
        const sqlite = await (isWriter ? openMigratedSqlite : openSqlite)(data.open);
        const isCancelled = ({ id }: Command) =>
          Atomics.load(cancelled, id % cancelled.length) === 1;
        context = { sqlite, procedures, isCancelled };
        reply({ ready: true });
      } catch (error) {
        reply({ failed: messageOf(error) });
      }
      return;
    }
    if ('close' in data) closing = true;
    else queue.push(...data.commands);
    // Without a connection the database could not be opened: there is nothing to close.
    if (!context) reply({ closed: true });
    else if (!running) await drain(context);
  };
}
