import type { StreamStatus } from '../../../protocol/streams.ts';
import { Refusal } from '../../platform/errors.ts';

/** The part of a stream that changes as the show goes on; times in Unix ms. */
export interface StreamState {
  readonly status: StreamStatus;
  readonly started: number | null;
  readonly ended: number | null;
  readonly endsAt: number | null;
}

/**
 * The stream once it is started: CREATED → STREAMING. Starting twice changes nothing.
 * @throws Refusal `conflict` when it has ended: a show that is over stays over.
 */
export function started(stream: StreamState, nowMs: number): StreamState {
  if (stream.status === 'ENDED') {
    throw new Refusal('conflict', 'The stream has ended; create a new stream for the next show.');
  }
  if (stream.status === 'STREAMING') return stateOf(stream);
  return { ...stateOf(stream), status: 'STREAMING', started: nowMs };
}

/**
 * The stream once it is ended, or due to end at `atMs`. Ending twice changes nothing.
 */
export function ended(stream: StreamState, atMs: number | null, nowMs: number): StreamState {
  if (stream.status === 'ENDED') return stateOf(stream);
  if (atMs !== null && atMs > nowMs) return { ...stateOf(stream), endsAt: atMs };
  return { ...stateOf(stream), status: 'ENDED', ended: nowMs, endsAt: null };
}

function stateOf({ status, started, ended, endsAt }: StreamState): StreamState {
  return { status, started, ended, endsAt };
}
