import { IncorrectResponse } from '../run/bench.ts';
import type { Pinned } from '../run/pinned.ts';
import { startLoad } from './load.ts';
import type { PushResult, PushTask } from './push-load.ts';

/** A measurement with a number of viewers to whom intervals are pushed. */
export interface PushStep {
  readonly viewers: number;
  /** Time from the end of an interval to its arrival. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly messagesPerS: number;
  /** CPU of the server, in cores. */
  readonly serverCpuCores: number;
  /** CPU of the server per message, including its other work. */
  readonly cpuUs: number;
  /** The part of `cpuUs` in the kernel, mostly for sending. */
  readonly kernelUs: number;
  readonly memoryBytes: number;
  readonly messageBytes: number;
  /** CPU of the load per message. Above that of the server, the load is the bottleneck. */
  readonly loadCpuUs: number;
}

const INTERVALS_A_SECOND = 4;
const WARM_UP_INTERVALS = 8;

/** Measures one step. @throws IncorrectResponse for a missing, repeated, reordered or wrong message */
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
    await load.receive('measuring');
    const before = server.usage();
    await load.receive('measured');
    const after = server.usage();
    const { failed, failures, messages, latencies, messageBytes, cpuUs } =
      await load.receive<PushResult>('outcome');
    if (failed > 0)
      throw new IncorrectResponse(`${failed} wrong or missing: ${failures.join('; ')}`);
    const cpuS = after.cpuS - before.cpuS;
    return {
      viewers: task.tokens.length,
      p50Ms: latencies.p50Ms,
      p99Ms: latencies.p99Ms,
      messagesPerS: messages / seconds,
      serverCpuCores: cpuS / seconds,
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
