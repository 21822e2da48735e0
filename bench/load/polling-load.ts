import { intervalAt } from '../../protocol/interval.ts';
import { type Latencies, latenciesOf } from './latency.ts';
import { type PollingOptions, PollingViewers } from './polling-viewers.ts';
import { readTask, report } from './task.ts';

/** The task of this program, which runs on the core of the load. `polling-step.ts` starts it. */
export interface PollingTask extends PollingOptions {
  readonly warmUpMs: number;
  readonly measuredMs: number;
}

export interface PollingResult {
  readonly responses: number;
  readonly failed: number;
  /** The first incorrect response, if any. */
  readonly incorrect: string | null;
  readonly failures: readonly string[];
  readonly latencies: Latencies;
  /** CPU of the load generator, in cores. */
  readonly loadCpuCores: number;
  readonly sendDelayP99Ms: number;
  /** The view counts in the measured intervals. */
  readonly counts: readonly number[];
}

const RESPONSES_WAIT_MS = 2_000;

const task = await readTask<PollingTask>();
const viewers = new PollingViewers(task, task.measuredMs);
await viewers.connect();
viewers.run(task.warmUpMs, false);
report('measuring');
const fromInterval = intervalAt(Date.now());
const cpu = process.cpuUsage();
viewers.run(task.measuredMs, true);
const used = process.cpuUsage(cpu);
report('measured');
viewers.end(RESPONSES_WAIT_MS);
const outcome: PollingResult = {
  responses: viewers.responses,
  failed: viewers.failed,
  incorrect: viewers.incorrect,
  failures: viewers.failures,
  latencies: latenciesOf(viewers.latencies),
  loadCpuCores: (used.user + used.system) / 1_000 / task.measuredMs,
  sendDelayP99Ms: latenciesOf(viewers.sendDelays).p99Ms,
  counts: viewers
    .counts()
    .filter(({ interval }) => interval > fromInterval)
    .map(({ value }) => value),
};
report('outcome', outcome);
