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
 * The stream after a start: CREATED → STREAMING. Starting twice changes nothing.
 * @throws DomainError `conflict` when the stream has ended; an end is final
 */
export function startStream<S extends StreamState>(stream: S, nowMs: number): S {
  if (stream.status === 'ENDED') {
    const detail = 'The stream has ended; create a new stream for the next show.';
    throw new DomainError('conflict', detail);
  }
  return stream.status === 'STREAMING'
    ? stream
    : { ...stream, status: 'STREAMING', started: nowMs };
}

/** Ends a stream now, or sets its end time if `atMs` is later. An ended stream stays unchanged. */
export function endStream<S extends StreamState>(stream: S, atMs: number | null, nowMs: number): S {
  if (stream.status === 'ENDED') return stream;
  if (atMs !== null && atMs > nowMs) return { ...stream, endsAt: atMs };
  return { ...stream, status: 'ENDED', ended: nowMs, endsAt: null };
}
