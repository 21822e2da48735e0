import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { type Latencies, latenciesOf } from './latency.ts';
import { type Publisher, startPublishing } from './publisher.ts';
import { type PushOptions, PushViewers } from './push-viewers.ts';
import { readTask, report } from './task.ts';

/** The task of this program, which runs on the core of the load. `push-step.ts` starts it. */
export interface PushTask extends PushOptions {
  readonly warmUpIntervals: number;
  readonly measuredIntervals: number;
  /** What the load publishes in each interval. */
  readonly publisher: Publisher;
}

export interface PushResult {
  /** Messages that the viewers should have received, missing ones included. */
  readonly messages: number;
  readonly failed: number;
  readonly failures: readonly string[];
  readonly latencies: Latencies;
  /** Size of a message on the wire. */
  readonly messageBytes: number;
  /** CPU of the load per message, µs. */
  readonly cpuUs: number;
}

const MESSAGES_WAIT_MS = 3_000;
/** Before the end of an interval: its message is not sent yet, the previous one has arrived. */
const BETWEEN_MS = 20;

const { warmUpIntervals, measuredIntervals, publisher, ...options } = await readTask<PushTask>();
startPublishing(publisher);
const viewers = new PushViewers(options);
await viewers.connect();
const first = intervalAt(Date.now()) + warmUpIntervals;
const last = first + measuredIntervals - 1;
viewers.measure(first, last);
const untilShortlyBeforeEndOf = (interval: number) =>
  Bun.sleep(intervalStartMs(interval + 1) - BETWEEN_MS - Date.now());
await untilShortlyBeforeEndOf(first);
report('measuring');
const cpu = process.cpuUsage();
await untilShortlyBeforeEndOf(last + 1);
const used = process.cpuUsage(cpu);
report('measured');
await Bun.sleep(INTERVAL_MS);
const missing = await viewers.end(MESSAGES_WAIT_MS);
const messages = options.tokens.length * measuredIntervals;
const outcome: PushResult = {
  messages,
  failed: viewers.failed + missing,
  failures: [...viewers.failures, ...(missing > 0 ? [`${missing} messages never came`] : [])],
  latencies: latenciesOf(viewers.latencies),
  messageBytes: viewers.messageBytes,
  cpuUs: (used.user + used.system) / messages,
};
report('outcome', outcome);
process.exit();
