import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { type Latencies, latenciesOf } from './latency.ts';
import { PushCrowd, type PushCrowdOptions } from './push-crowd.ts';
import { type Talk, talking } from './talk.ts';
import { readTask, tell } from './task.ts';

/** What this program does, on the core of the load: `push-step.ts` starts it. */
export interface PushTask extends PushCrowdOptions {
  readonly warmUpIntervals: number;
  readonly measuredIntervals: number;
  /** What it does once in each interval, so that there is something to be told. */
  readonly talk: Talk;
}

/** What it found. */
export interface PushOutcome {
  readonly messages: number;
  readonly failed: number;
  readonly troubles: readonly string[];
  readonly latencies: Latencies;
  /** Of the last one, as it was on the wire. */
  readonly messageBytes: number;
  /** Of the load itself, for each message, µs. */
  readonly cpuUs: number;
}

const MESSAGES_WAIT_MS = 3_000;
/** So long before the end of an interval its message cannot have been sent, and the last one came. */
const BETWEEN_MS = 20;

const { warmUpIntervals, measuredIntervals, talk, ...options } = await readTask<PushTask>();
const talker = talking(talk);
const crowd = new PushCrowd(options);
await crowd.connect();
tell('connected');
const first = intervalAt(Date.now()) + warmUpIntervals;
const last = first + measuredIntervals - 1;
crowd.measure(first, last);
const before = (interval: number) =>
  Bun.sleep(intervalStartMs(interval + 1) - BETWEEN_MS - Date.now());
await before(first);
tell('measuring');
const cpu = process.cpuUsage();
await before(last + 1);
const used = process.cpuUsage(cpu);
tell('measured');
await Bun.sleep(INTERVAL_MS);
const missing = await crowd.end(MESSAGES_WAIT_MS);
talker.stop();
const messages = options.tokens.length * measuredIntervals;
const outcome: PushOutcome = {
  messages,
  failed: crowd.failed + missing,
  troubles: [...crowd.troubles, ...(missing > 0 ? [`${missing} messages never came`] : [])],
  latencies: latenciesOf(crowd.latencies),
  messageBytes: crowd.messageBytes,
  cpuUs: (used.user + used.system) / messages,
};
tell('outcome', outcome);
process.exit();
