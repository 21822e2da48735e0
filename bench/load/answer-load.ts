import { type Latencies, latenciesOf } from './latency.ts';
import { readTask, tell } from './task.ts';
import { ViewersLoad } from './viewers-load.ts';
import { ViewersRequests, type ViewersRound } from './viewers-requests.ts';

/** What this program does, on the core of the load: it answers quizzes as fast as it hears that they were. */
export interface AnswerTask {
  readonly url: string;
  readonly connections: number;
  readonly tokens: readonly string[];
  readonly rounds: readonly ViewersRound[];
  readonly seconds: number;
}

/** What it found. */
export interface AnswerOutcome extends Latencies {
  readonly sent: number;
  readonly seconds: number;
  /** Answers that were acknowledged, by round. */
  readonly accepted: readonly number[];
  /** A wrong answer, if there was one. */
  readonly wrong: string | null;
  readonly cpuShare: number;
}

const { url, connections, tokens, rounds, seconds } = await readTask<AnswerTask>();
const load = new ViewersLoad();
await load.connect(url, connections);
const requests = new ViewersRequests(url, tokens, rounds);
tell('connected');
const cpu = process.cpuUsage();
const { latencies, lateness: _, ...sending } = await load.sendAsAnswered(requests, seconds);
const used = process.cpuUsage(cpu);
const cpuShare = (used.user + used.system) / 1e6 / sending.seconds;
const outcome: AnswerOutcome = { ...sending, ...latenciesOf(latencies), cpuShare };
tell('outcome', outcome);
process.exit();
