import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../protocol/interval.ts';
import { median } from '../run/statistics.ts';
import { HeldCrowd } from './held-crowd.ts';
import { type HeldKind, heldRequests } from './held-requests.ts';
import { type Talk, talking } from './talk.ts';
import { readTask, tell } from './task.ts';

/** What this program does, on the core of the load: `feed-held.ts` starts it. */
export interface HeldTask {
  readonly url: string;
  readonly how: HeldKind;
  readonly viewers: number;
  readonly talk: Talk;
  readonly intervals: number;
}

/** What it found. */
export interface HeldOutcome {
  /** A wrong answer, or one that was missing. */
  readonly wrong: string | null;
  /** From the end of an interval to the answers of half of the viewers, and of all: medians over intervals. */
  readonly halfMs: number;
  readonly lastMs: number;
  /** Of the answers, those that said that the service cannot now. */
  readonly refused: number;
  /** CPU time of the load as a share of the time. */
  readonly cpuShare: number;
}

const WARM_UP_INTERVALS = 6;
/** Where in an interval nothing happens any more, unless the server is far behind. */
const QUIET_MS = 220;
const LATE_MAX_MS = 3_000;
const POLL_MS = 20;

const task = await readTask<HeldTask>();
const url = new URL(task.url);
const crowd = new HeldCrowd(url, heldRequests(url.host, task.how));
await crowd.connect(task.viewers);
const talk = talking(task.talk);
crowd.begin();

const first = intervalAt(Date.now()) + WARM_UP_INTERVALS;
const last = first + task.intervals - 1;
await until(intervalStartMs(first) + QUIET_MS);
const cpu = process.cpuUsage();
tell('measuring');
await until(intervalStartMs(last + 1) + QUIET_MS);
const used = process.cpuUsage(cpu);
tell('measured');
const measured = Array.from({ length: task.intervals }, (_, n) => first + n);
const ofInterval = (interval: number) => crowd.lateness.get(interval) ?? [];
const missing = () =>
  measured.find((interval) => ofInterval(interval).length !== task.viewers) ?? null;
const endMs = Date.now() + LATE_MAX_MS;
while (missing() !== null && Date.now() < endMs) await Bun.sleep(POLL_MS);
talk.stop();
crowd.end();
const lost = missing();
const lack =
  lost === null ? null : `${ofInterval(lost).length} of ${task.viewers} were told ${lost}`;
const wrong = crowd.wrong ?? lack;
const outcome: HeldOutcome = {
  wrong,
  halfMs: wrong ? 0 : median(measured.map((interval) => median(ofInterval(interval)))),
  lastMs: wrong ? 0 : median(measured.map((interval) => Math.max(...ofInterval(interval)))),
  refused: crowd.refused,
  cpuShare: (used.user + used.system) / 1_000 / (task.intervals * INTERVAL_MS),
};
tell('outcome', outcome);
process.exit();

async function until(unixMs: number): Promise<void> {
  await Bun.sleep(Math.max(0, unixMs - Date.now()));
}
