import { type Latencies, latenciesOf } from './latency.ts';
import { readTask, report } from './task.ts';
import { ViewersLoad } from './viewers-load.ts';
import { type RequestBatch, ViewersRequests } from './viewers-requests.ts';

/** The task of this program: to send answers from the load core as fast as it gets responses. */
export interface AnswerTask {
  readonly url: string;
  readonly connections: number;
  readonly tokens: readonly string[];
  readonly batches: readonly RequestBatch[];
  readonly seconds: number;
}

export interface AnswerResult extends Latencies {
  readonly sent: number;
  readonly seconds: number;
  /** Acknowledged answers, by batch. */
  readonly accepted: readonly number[];
  /** The first incorrect response, if any. */
  readonly incorrect: string | null;
  /** CPU of the load generator, in cores. */
  readonly loadCpuCores: number;
}

const { url, connections, tokens, batches, seconds } = await readTask<AnswerTask>();
const load = new ViewersLoad();
await load.connect(url, connections);
const requests = new ViewersRequests(url, tokens, batches);
report('connected');
const cpu = process.cpuUsage();
const { latencies, sendDelays: _, ...result } = await load.sendAsFastAsPossible(requests, seconds);
const used = process.cpuUsage(cpu);
const loadCpuCores = (used.user + used.system) / 1e6 / result.seconds;
const outcome: AnswerResult = { ...result, ...latenciesOf(latencies), loadCpuCores };
report('outcome', outcome);
process.exit();
