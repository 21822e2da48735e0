import type { StreamStatus } from '../../../protocol/streams.ts';

/** A lease that was not renewed for this long has expired; another source may open (M-6). */
export const SOURCE_ALIVE_MS = 6_000;

/** How long the stream of a source outlives the node that received it (M-7). */
export const NODE_GRACE_MS = 300_000;

/** A stream's status and its source's lease. Times are in ms of the lease clock. */
export interface Lease {
  readonly status: StreamStatus;
  /** Session id of the source; null without one. */
  readonly source: string | null;
  /** Time of the last renewal. */
  readonly seenMs: number | null;
}

/** Whether the stream has a source with a valid lease. */
export function hasSource({ status, source, seenMs }: Lease, leaseMs: number): boolean {
  const isValid = seenMs !== null && leaseMs - seenMs < SOURCE_ALIVE_MS;
  return status !== 'ENDED' && source !== null && isValid;
}

/**
 * Whether a session may become the source: a stream has one at a time (M-6). Idempotent: the current
 * source may open again, for example after a lost response.
 */
export function mayOpen(
  lease: Lease,
  session: string,
  leaseMs: number,
): 'opened' | 'busy' | 'ended' {
  if (lease.status === 'ENDED') return 'ended';
  return hasSource(lease, leaseMs) && lease.source !== session ? 'busy' : 'opened';
}

/**
 * Whether a session may renew its lease. An expired lease can be renewed while no other session has
 * opened.
 */
export function mayRenew(lease: Lease, session: string): 'renewed' | 'lost' | 'ended' {
  if (lease.status === 'ENDED') return 'ended';
  return lease.source === session ? 'renewed' : 'lost';
}
