import { Unavailable } from '../../platform/errors.ts';
import { runOnce } from './idempotency.ts';
import type { PostgresSession } from './postgres.ts';
import type { Call } from './postgres-calls.ts';
import { remedyOf } from './postgres-errors.ts';
import { insertNew } from './postgres-insert-new.ts';
import type { Tx } from './procedure.ts';

// Sealing may count a million answers, and waits for the answers that are being written.
const LONG_TIMEOUTS = 'set local statement_timeout = 10000; set local lock_timeout = 5000';
const BEGIN = {
  write: 'begin isolation level read committed',
  // A snapshot, taken by the first statement: it contains everything acknowledged before.
  read: 'begin isolation level repeatable read read only',
};

/** The call was rejected while its transaction ran. */
class CallSettled extends Error {}

/**
 * Runs a call in a transaction of its own and resolves it.
 * @throws the errors of the procedure and of its statements: nothing is changed then
 * @throws Unavailable when the response to the commit is lost: the change may have been saved
 */
export async function transact(session: PostgresSession, call: Call): Promise<void> {
  const { access, noDeadline } = call.procedure;
  await session.run(noDeadline ? `${BEGIN[access]}; ${LONG_TIMEOUTS}` : BEGIN[access]);
  let output: unknown;
  try {
    output = await runProcedure(session, call);
    if (call.isSettled) throw new CallSettled();
  } catch (error) {
    await rollback(session);
    if (error instanceof CallSettled) return;
    throw error;
  }
  if (access === 'read') {
    call.resolve(output);
    await rollback(session);
    return;
  }
  await commit(session);
  call.resolve(output);
}

function runProcedure(session: PostgresSession, call: Call): Promise<unknown> {
  const tx: Tx = {
    rows: session.rows,
    locks: session.locks,
    timeline: session.timeline,
    monotonicMs: session.monotonicMs,
    query: (text, params) => {
      if (call.isSettled) throw new CallSettled();
      return session.query(text, params);
    },
    insertNew: (table, rows) => insertNew(tx, table, rows),
  };
  const run = () => call.procedure.run(tx, call.input);
  return call.idempotency ? runOnce(tx, call.idempotency, run) : run();
}

async function rollback(session: PostgresSession): Promise<void> {
  if (session.failure()) return;
  await session.run('rollback').catch(() => session.drop('its rollback failed'));
}

async function commit(session: PostgresSession): Promise<void> {
  let tag: string;
  try {
    tag = await session.run('commit');
  } catch (error) {
    if (session.failure() === null && remedyOf(error) !== 'reconnect') throw error;
    session.drop('its commit got no response');
    throw new Unavailable(
      'The database became unavailable during the commit; the change may have been saved.',
    );
  }
  // The tag is ROLLBACK when a statement of the transaction failed.
  if (tag !== 'COMMIT') throw new Error('a failed statement was ignored');
}
