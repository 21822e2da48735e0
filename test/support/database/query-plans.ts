import pino from 'pino';
import { procedures } from '../../../server/app/procedures.ts';
import { openPostgresDatabase } from '../../../server/storage/sql/database-postgres.ts';
import { openSession, type PostgresSession } from '../../../server/storage/sql/postgres.ts';
import type { Tx } from '../../../server/storage/sql/procedure.ts';
import { startPostgres } from '../backends/postgres.ts';

/** A node of a plan of PostgreSQL, as `explain (analyze, format json)` returns it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

/** The sum of a measure over all nodes of a plan. */
export function sumOfPlan(plan: PlanNode, measure: (node: PlanNode) => number): number {
  return (plan.Plans ?? []).reduce((sum, part) => sum + sumOfPlan(part, measure), measure(plan));
}

/** A transaction that runs each statement a first time to get its plan. Statements may run twice. */
export function explainingTx(session: PostgresSession, onPlan: (plan: PlanNode) => void): Tx {
  const query: Tx['query'] = async (text, params) => {
    const explain = `explain (analyze, format json) ${text}`;
    const [row] = await session.query<{ 'QUERY PLAN': string }>(explain, params);
    onPlan(JSON.parse(row?.['QUERY PLAN'] ?? '')[0].Plan);
    return session.query(text, params);
  };
  const { rows, locks, timeline, insertNew, monotonicMs } = session;
  return { rows, locks, timeline, insertNew, monotonicMs, query };
}

/** The rows of a table that a plan reads, those that a filter removes included. */
export const rowsRead = (plan: PlanNode, table: string) =>
  sumOfPlan(plan, (node) => {
    const rows = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
    return node['Relation Name'] === table ? rows * node['Actual Loops'] : 0;
  });

/** Runs `use` on a session of a new PostgreSQL server, whose database is empty. */
export async function withSession(use: (session: PostgresSession) => Promise<void>): Promise<void> {
  const server = await startPostgres({ fsync: false });
  const url = await server.createDatabase('plans');
  const logger = pino({ level: 'silent' });
  const database = await openPostgresDatabase({ procedures, url, logger });
  const session = await openSession({ url, connectTimeoutMs: 5_000 });
  try {
    await use(session);
  } finally {
    await session.end();
    await database.close();
    await server.stop();
  }
}
