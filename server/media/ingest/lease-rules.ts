import type { StreamStatus } from '../../../protocol/streams.ts';

/** A source that was not heard of for this long is gone, and another may take its place (M-6). */
export const SOURCE_ALIVE_MS = 6_000;

/** What the database knows of a stream and its source. Times are by the clock of leases, in ms. */
export interface Lease {
  readonly status: StreamStatus;
  /** The session that is the source; null: there is none. */
  readonly source: string | null;
  /** When it was last heard of. */
  readonly seenMs: number | null;
}

/** Whether the stream has a source now. */
export function hasSource({ status, source, seenMs }: Lease, leaseMs: number): boolean {
  const isHeardOf = seenMs !== null && leaseMs - seenMs < SOURCE_ALIVE_MS;
  return status === 'STREAMING' && source !== null && isHeardOf;
}

/**
 * Whether a session may be the source: a stream has one at a time (M-6). One that asks again, since
 * it did not hear the answer, still may.
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
 * What a session that is the source hears when it says so again. One that was silent for long is
 * the source all the same, as long as no other took its place.
 */
export function mayRenew(lease: Lease, session: string): 'renewed' | 'lost' | 'ended' {
  if (lease.status === 'ENDED') return 'ended';
  return lease.source === session ? 'renewed' : 'lost';
}
