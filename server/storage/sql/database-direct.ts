import { runOnce } from './idempotency.ts';
import type { Calls, Idempotency, Procedures } from './procedure.ts';
import { inSnapshot, inTransaction, openMigratedSqlite } from './sqlite.ts';

/** A database in the calling thread, with one transaction per call. */
export interface DirectDatabase<P extends Procedures> {
  readonly store: Calls<P>;
  close(): Promise<void>;
}

/**
 * Opens the SQLite database without worker threads: the same files, statements and transactions, but
 * calls run on the caller's thread, one after the other, without a deadline. For commands, and for
 * tests that make thousands of calls.
 */
export async function openDirectDatabase<P extends Procedures>(
  procedures: P,
  directory: string,
): Promise<DirectDatabase<P>> {
  const sqlite = await openMigratedSqlite(directory);
  // A connection has one transaction at a time, so concurrent calls are queued.
  let last: Promise<unknown> = Promise.resolve();
  const enqueue = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
  const calls: Record<string, unknown> = {};
  for (const [name, { access, run }] of Object.entries(procedures)) {
    const transaction = access === 'write' ? inTransaction : inSnapshot;
    calls[name] = (input: unknown, idempotency: Idempotency | null = null) => {
      const work = () => run(sqlite, input);
      return enqueue(() =>
        transaction(sqlite, idempotency ? () => runOnce(sqlite, idempotency, work) : work),
      );
    };
  }
  return {
    store: calls as Calls<P>,
    close: () => enqueue(() => sqlite.close()),
  };
}
