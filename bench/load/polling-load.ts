import { intervalAt } from '../../protocol/interval.ts';
import { latenciesOf } from './latency.ts';
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
  readonly latencies: ReturnType<typeof latenciesOf>;
  readonly cpuShare: number;
  readonly lateP99Ms: number;
  /** The counts that intervals of the time told. */
  readonly counts: readonly number[];
}

const ANSWERS_WAIT_MS = 2_000;

const task = await readTask<PollingTask>();
const crowd = new PollingCrowd(task);
await crowd.connect();
tell('connected');
crowd.begin();
await Bun.sleep(task.warmUpMs);
const fromMs = performance.now();
const fromInterval = intervalAt(Date.now());
const cpu = process.cpuUsage();
crowd.measure(fromMs, fromMs + task.measuredMs);
tell('measuring');
await Bun.sleep(task.measuredMs);
const used = process.cpuUsage(cpu);
const tookMs = performance.now() - fromMs;
tell('measured');
const missing = await crowd.end(ANSWERS_WAIT_MS);
const outcome: PollingOutcome = {
  answered: crowd.answered,
  failed: crowd.failed + missing,
  wrong: crowd.wrong,
  troubles: [...crowd.troubles, ...(missing > 0 ? [`${missing} had no answer`] : [])],
  latencies: latenciesOf(crowd.latencies),
  cpuShare: (used.user + used.system) / 1_000 / tookMs,
  lateP99Ms: latenciesOf(crowd.lateness).p99Ms,
  counts: crowd.bodies.counts
    .filter(({ interval }) => interval > fromInterval)
    .map(({ value }) => value),
};
tell('outcome', outcome);
process.exit();
