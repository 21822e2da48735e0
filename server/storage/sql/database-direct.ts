import { runOnce } from './idempotency.ts';
import type { Calls, Idempotency, Procedures } from './procedure.ts';
import { inSnapshot, inTransaction, openMigratedSqlite } from './sqlite.ts';

/** A record in the calling thread, one transaction a call. */
export interface DirectDatabase<P extends Procedures> {
  readonly store: Calls<P>;
  close(): Promise<void>;
}

/**
 * Opens the database without worker threads: the same files, statements and transactions, but every
 * call takes its turn on the caller's thread and waits as long as it takes. For commands at a
 * terminal, and for tests that drive rules through it by the thousand.
 */
export async function openDirectDatabase<P extends Procedures>(
  procedures: P,
  directory: string,
): Promise<DirectDatabase<P>> {
  const sqlite = await openMigratedSqlite(directory);
  // A connection has one transaction at a time, so calls made together go one after the other.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
  const calls: Record<string, unknown> = {};
  for (const [name, { access, run }] of Object.entries(procedures)) {
    const transaction = access === 'write' ? inTransaction : inSnapshot;
    calls[name] = (input: unknown, once: Idempotency | null = null) => {
      const work = () => run(sqlite, input);
      return inTurn(() => transaction(sqlite, once ? () => runOnce(sqlite, once, work) : work));
    };
  }
  return {
    store: calls as Calls<P>,
    close: () => inTurn(() => sqlite.close()),
  };
}
