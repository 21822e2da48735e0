import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { median } from '../run/statistics.ts';
import { type LongPollKind, longPollRequests } from './long-poll-requests.ts';
import { LongPollViewers } from './long-poll-viewers.ts';
import { type Publisher, startPublishing } from './publisher.ts';
import { readTask, report } from './task.ts';

/** The task of this program, which runs on the core of the load. `feed-long-poll.ts` starts it. */
export interface LongPollTask {
  readonly url: string;
  readonly requestKind: LongPollKind;
  readonly viewers: number;
  readonly publisher: Publisher;
  readonly intervals: number;
}

export interface LongPollResult {
  /** The first incorrect or missing response, if any. */
  readonly incorrect: string | null;
  /** Time from the end of an interval to the responses of half of the viewers, and of all (medians). */
  readonly halfMs: number;
  readonly lastMs: number;
  /** Number of 503 responses. */
  readonly refused: number;
  /** CPU of the load generator, in cores. */
  readonly loadCpuCores: number;
}

const WARM_UP_INTERVALS = 6;
/** Offset into an interval at which all long polls wait and no response is on its way, unless the server is late. */
const QUIET_MS = 220;
const RESPONSES_WAIT_MS = 3_000;
const POLL_MS = 20;

const task = await readTask<LongPollTask>();
const requests = longPollRequests(new URL(task.url).host, task.requestKind);
const viewers = new LongPollViewers(requests);
await viewers.connect(task.url, task.viewers);
startPublishing(task.publisher);
viewers.start();

const first = intervalAt(Date.now()) + WARM_UP_INTERVALS;
const last = first + task.intervals - 1;
await sleepUntil(intervalStartMs(first) + QUIET_MS);
const cpu = process.cpuUsage();
report('measuring');
await sleepUntil(intervalStartMs(last + 1) + QUIET_MS);
const used = process.cpuUsage(cpu);
report('measured');
const measured = Array.from({ length: task.intervals }, (_, n) => first + n);
const delaysOf = (interval: number) => viewers.delaysMs.get(interval) ?? [];
const findIncomplete = () =>
  measured.find((interval) => delaysOf(interval).length !== task.viewers) ?? null;
const endMs = Date.now() + RESPONSES_WAIT_MS;
while (findIncomplete() !== null && Date.now() < endMs) await Bun.sleep(POLL_MS);
const incomplete = findIncomplete();
const missingText =
  incomplete === null
    ? null
    : `${delaysOf(incomplete).length} of ${task.viewers} viewers received ${incomplete}`;
const incorrect = viewers.incorrect ?? missingText;
const result: LongPollResult = {
  incorrect,
  halfMs: incorrect ? 0 : median(measured.map((interval) => median(delaysOf(interval)))),
  lastMs: incorrect ? 0 : median(measured.map((interval) => Math.max(...delaysOf(interval)))),
  refused: viewers.refused,
  loadCpuCores: (used.user + used.system) / 1_000 / (task.intervals * INTERVAL_MS),
};
report('outcome', result);
process.exit();

async function sleepUntil(unixMs: number): Promise<void> {
  await Bun.sleep(Math.max(0, unixMs - Date.now()));
}
