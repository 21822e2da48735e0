import { WrongAnswer } from '../run/bench.ts';
import type { Pinned } from '../run/pinned.ts';
import { startLoad } from './load.ts';
import type { PushOutcome, PushTask } from './push-load.ts';

/** So many viewers to whom intervals are pushed for a while, and how it went. */
export interface PushStep {
  readonly viewers: number;
  /** From the end of an interval to its arrival. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly messagesPerS: number;
  /** Of the server. */
  readonly cpuShare: number;
  /** Of the server for each message, with all else that it does. */
  readonly cpuUs: number;
  /** How much of it is the kernel's: mostly to send. */
  readonly kernelUs: number;
  readonly memoryBytes: number;
  readonly messageBytes: number;
  /** Of the load for each message: when it is more than the server's, the load is what is waited for. */
  readonly loadCpuUs: number;
}

const INTERVALS_A_SECOND = 4;
const WARM_UP_INTERVALS = 8;

/** @throws WrongAnswer when a message was missing, twice, out of order or not what others got */
export async function pushStep(
  server: Pinned,
  task: Omit<PushTask, 'warmUpIntervals' | 'measuredIntervals'>,
  seconds: number,
): Promise<PushStep> {
  const load = startLoad('push-load.ts', {
    ...task,
    warmUpIntervals: WARM_UP_INTERVALS,
    measuredIntervals: seconds * INTERVALS_A_SECOND,
  });
  try {
    await load.said('measuring');
    const before = server.usage();
    await load.said('measured');
    const after = server.usage();
    const { failed, troubles, messages, latencies, messageBytes, cpuUs } =
      await load.said<PushOutcome>('outcome');
    if (failed > 0) throw new WrongAnswer(`${failed} wrong or missing: ${troubles.join('; ')}`);
    const cpuS = after.cpuS - before.cpuS;
    return {
      viewers: task.tokens.length,
      p50Ms: latencies.p50Ms,
      p99Ms: latencies.p99Ms,
      messagesPerS: messages / seconds,
      cpuShare: cpuS / seconds,
      cpuUs: (cpuS / messages) * 1e6,
      kernelUs: ((after.kernelS - before.kernelS) / messages) * 1e6,
      memoryBytes: after.memoryBytes,
      messageBytes,
      loadCpuUs: cpuUs,
    };
  } finally {
    await load.stop();
  }
}
