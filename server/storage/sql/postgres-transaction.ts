import { Unavailable } from '../../platform/errors.ts';
import { runOnce } from './idempotency.ts';
import type { PostgresSession } from './postgres.ts';
import { addNew } from './postgres-add-new.ts';
import type { Call } from './postgres-calls.ts';
import { remedyOf } from './postgres-errors.ts';
import type { Tx } from './procedure.ts';

// Sealing may count a million answers, and waits for those that are being recorded.
const PATIENT = 'set local statement_timeout = 10000; set local lock_timeout = 5000';
const BEGIN = {
  write: 'begin isolation level read committed',
  // One view of the database, taken by the first statement: all that was acknowledged before is in it.
  read: 'begin isolation level repeatable read read only',
};

/** The caller of a running call was told no meanwhile. */
class GivenUp extends Error {}

/**
 * Runs a call in a transaction of its own and tells its caller.
 * @throws what the procedure throws and whatever goes wrong before the commit is sent, which
 *   leaves nothing behind; Unavailable when the answer to the commit is lost
 */
export async function transact(session: PostgresSession, call: Call): Promise<void> {
  const { access, patient } = call.procedure;
  await session.run(patient ? `${BEGIN[access]}; ${PATIENT}` : BEGIN[access]);
  let output: unknown;
  try {
    output = await work(session, call);
    if (call.isDone) throw new GivenUp();
  } catch (error) {
    await rollback(session);
    if (error instanceof GivenUp) return;
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

function work(session: PostgresSession, call: Call): Promise<unknown> {
  const tx: Tx = {
    rows: session.rows,
    locks: session.locks,
    query: (text, params) => {
      if (call.isDone) throw new GivenUp();
      return session.query(text, params);
    },
    addNew: (table, rows) => addNew(tx, table, rows),
  };
  const run = () => call.procedure.run(tx, call.input);
  return call.once ? runOnce(tx, call.once, run) : run();
}

async function rollback(session: PostgresSession): Promise<void> {
  if (session.lost()) return;
  await session.run('rollback').catch(() => session.drop('it could not roll back'));
}

async function commit(session: PostgresSession): Promise<void> {
  let tag: string;
  try {
    tag = await session.run('commit');
  } catch (error) {
    if (session.lost() === null && remedyOf(error) !== 'reconnect') throw error;
    session.drop('its commit was not answered');
    throw new Unavailable('The database went away during the commit; it may have been recorded.');
  }
  // What PostgreSQL says to the commit of a transaction in which a statement had failed.
  if (tag !== 'COMMIT') throw new Error('a statement failed and was passed over');
}
