import { intervalAt } from '../../../protocol/interval.ts';
import { ARCHIVE_MS, REOPEN_MS } from '../../../protocol/limits.ts';
import type { StreamStatus } from '../../../protocol/streams.ts';
import { DomainError } from '../../platform/errors.ts';

/** The lifecycle state of a stream; times in Unix ms. */
export interface StreamState {
  readonly status: StreamStatus;
  readonly started: number | null;
  readonly ended: number | null;
  readonly endsAt: number | null;
  /** When its end was last taken back; null: never. */
  readonly reopened: number | null;
  /** Its last interval that was sealed before service time was set back (K-7); null: it was not. */
  readonly sealedUntil: number | null;
}

/**
 * The stream after a start: CREATED → STREAMING. Starting twice changes nothing.
 * @throws DomainError `conflict` when the stream has ended
 */
export function startStream<S extends StreamState>(stream: S, nowMs: number): S {
  if (stream.status === 'ENDED') {
    const detail =
      'The stream has ended. Reopen it within 10 minutes of its end, or create a new stream.';
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

/** The newest end of streams that are archived: they count no viewers and take no posts (S-21). */
export function archivedEndMs(nowMs: number): number {
  return nowMs - ARCHIVE_MS;
}

/**
 * The stream as it was before its end, within `REOPEN_MS` of it; a scheduled end is not restored.
 * A stream that has not ended stays unchanged.
 * @throws DomainError `conflict` when it ended too long ago, or its feed was sealed beyond now before
 *   service time was set back (K-7)
 */
export function reopenStream<S extends StreamState>(stream: S, nowMs: number): S {
  if (stream.ended === null) return stream;
  if (stream.sealedUntil !== null && intervalAt(nowMs) <= stream.sealedUntil) {
    const detail = 'The service had a wrong clock during this stream. Create a new stream.';
    throw new DomainError('conflict', detail);
  }
  if (nowMs >= stream.ended + REOPEN_MS) {
    const detail =
      'The stream ended more than 10 minutes ago. Create a new stream for the next show.';
    throw new DomainError('conflict', detail);
  }
  const status = stream.started === null ? 'CREATED' : 'STREAMING';
  return { ...stream, status, ended: null, reopened: nowMs };
}
