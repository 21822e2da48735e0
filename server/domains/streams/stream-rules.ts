import type { StreamStatus } from '../../../protocol/streams.ts';
import { DomainError } from '../../platform/errors.ts';

/** The lifecycle state of a stream; times in Unix ms. */
export interface StreamState {
  readonly status: StreamStatus;
  readonly started: number | null;
  readonly ended: number | null;
  readonly endsAt: number | null;
}

/**
 * The state after a start: CREATED → STREAMING. Starting twice changes nothing.
 * @throws DomainError `conflict` when the stream has ended; an end is final
 */
export function startStream(stream: StreamState, nowMs: number): StreamState {
  if (stream.status === 'ENDED') {
    throw new DomainError(
      'conflict',
      'The stream has ended; create a new stream for the next show.',
    );
  }
  if (stream.status === 'STREAMING') return stateOf(stream);
  return { ...stateOf(stream), status: 'STREAMING', started: nowMs };
}

/** The state after an end now, or one due at `atMs` if that is later. Ending twice changes nothing. */
export function endStream(stream: StreamState, atMs: number | null, nowMs: number): StreamState {
  if (stream.status === 'ENDED') return stateOf(stream);
  if (atMs !== null && atMs > nowMs) return { ...stateOf(stream), endsAt: atMs };
  return { ...stateOf(stream), status: 'ENDED', ended: nowMs, endsAt: null };
}

function stateOf({ status, started, ended, endsAt }: StreamState): StreamState {
  return { status, started, ended, endsAt };
}
