/** Whether the core that makes the load had enough of itself, so that what it measured is not of the server. */
export interface OwnLimit {
  /** CPU time of the load as a share of the time. */
  readonly cpuShare: number;
  /** How late requests were sent, ms: 99 of 100 were less. */
  readonly lateP99Ms: number;
}

const CPU_SHARE_MAX = 0.95;
const LATE_MAX_MS = 10;

export function isLimit({ cpuShare, lateP99Ms }: OwnLimit): boolean {
  return cpuShare >= CPU_SHARE_MAX || lateP99Ms > LATE_MAX_MS;
}
