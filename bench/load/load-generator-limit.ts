/** The usage of the core that generates the load. When it is saturated, results do not describe the server. */
interface LoadGeneratorUsage {
  /** CPU time of the load as a share of the measured time. */
  readonly cpuShare: number;
  /** How late requests were sent, 99th percentile. */
  readonly lateP99Ms: number;
}

const MAX_CPU_SHARE = 0.95;
const MAX_LATENESS_MS = 10;

export function isLoadGeneratorLimit({ cpuShare, lateP99Ms }: LoadGeneratorUsage): boolean {
  return cpuShare >= MAX_CPU_SHARE || lateP99Ms > MAX_LATENESS_MS;
}
