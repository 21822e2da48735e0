import { replaceRuntime, SYSTEM_RUNTIME } from '../../../../server/platform/runtime.ts';
import type { PostgresSession } from '../../../../server/storage/sql/postgres.ts';
import { Scheduler } from '../../scheduler.ts';
import { seededRandom } from '../../seeded-random.ts';
import { Link } from '../link.ts';
import { Machine } from '../machine.ts';
import { Engine } from './engine.ts';
import { PostgresModel } from './server.ts';
import { openSimulatedSession } from './session.ts';

const CONNECT_TIMEOUT_MS = 1_000;
const TICK_MS = 1;

/** The model of PostgreSQL for tests that also run with a server: its time passes as real time does. */
export interface ModelInRealTime {
  open(): Promise<PostgresSession>;
  close(): void;
}

/** @param directory for its files; `close` removes it */
export async function openModelInRealTime(directory: string): Promise<ModelInRealTime> {
  const engine = await Engine.open(directory, async () => {});
  const leaveMachine = () => replaceRuntime(SYSTEM_RUNTIME);
  const scheduler = new Scheduler(Date.now(), leaveMachine);
  const random = seededRandom(1);
  const clocks = { bootMs: scheduler.nowMs, rate: 1, systemErrorMs: 0 };
  const machine = new Machine({ scheduler, random, clocks });
  const link = new Link({ scheduler, random, minDelayMs: 0.1, maxDelayMs: 0.2 });
  const model = new PostgresModel({ scheduler, random, engine });
  const timer = setInterval(() => {
    scheduler.advance(Date.now() - scheduler.nowMs);
    leaveMachine();
  }, TICK_MS);
  const options = { url: '', connectTimeoutMs: CONNECT_TIMEOUT_MS };
  return {
    open: () => openSimulatedSession(model, link, machine, options),
    close() {
      clearInterval(timer);
      engine.close();
    },
  };
}
