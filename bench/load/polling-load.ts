import { intervalAt } from '../../protocol/interval.ts';
import { type Latencies, latenciesOf } from './latency.ts';
import { type CrowdOptions, PollingCrowd } from './polling-crowd.ts';
import { readTask, tell } from './task.ts';

/** What this program does, on the core of the load: `polling-step.ts` starts it. */
export interface PollingTask extends CrowdOptions {
  readonly warmUpMs: number;
  readonly measuredMs: number;
}

/** What it found. */
export interface PollingOutcome {
  readonly answered: number;
  readonly failed: number;
  /** A wrong answer, if there was one. */
  readonly wrong: string | null;
  readonly troubles: readonly string[];
  readonly latencies: Latencies;
  readonly cpuShare: number;
  readonly lateP99Ms: number;
  /** The counts that intervals of the time told. */
  readonly counts: readonly number[];
}

const ANSWERS_WAIT_MS = 2_000;

const task = await readTask<PollingTask>();
const crowd = new PollingCrowd(task, task.measuredMs);
await crowd.connect();
crowd.run(task.warmUpMs, false);
tell('measuring');
const fromInterval = intervalAt(Date.now());
const cpu = process.cpuUsage();
crowd.run(task.measuredMs, true);
const used = process.cpuUsage(cpu);
tell('measured');
crowd.end(ANSWERS_WAIT_MS);
const outcome: PollingOutcome = {
  answered: crowd.answered,
  failed: crowd.failed,
  wrong: crowd.wrong,
  troubles: crowd.troubles,
  latencies: latenciesOf(crowd.latencies),
  cpuShare: (used.user + used.system) / 1_000 / task.measuredMs,
  lateP99Ms: latenciesOf(crowd.lateness).p99Ms,
  counts: crowd
    .counts()
    .filter(({ interval }) => interval > fromInterval)
    .map(({ value }) => value),
};
tell('outcome', outcome);
