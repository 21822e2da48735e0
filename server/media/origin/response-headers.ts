import { targetDurationS } from '../playlist/target-duration.ts';
import type { Presentation } from '../segment.ts';
import { contentTypeOf, type MediaFile } from './media-file.ts';

// Segments, parts and init segments never change.
const CACHE_IMMUTABLE = 'public, max-age=31536000, immutable';
// Changes when the source reconnects with another size, and when an ended stream is reopened.
const CACHE_MULTIVARIANT = 'public, max-age=5';
// An ended playlist changes only when it expires.
const CACHE_ENDED = 'public, max-age=60';
// `max-age` has whole seconds; for less, caches revalidate by entity tag.
const CACHE_REVALIDATE = 'public, no-cache';
// Target durations. A blocking reload of a later segment has another URL (RFC 8216bis, B.1).
const BLOCKING_RELOAD_TARGETS = 6;

/** Response headers that pages of other origins may read (SPEC M-23). */
export const EXPOSED_HEADERS =
  'Content-Length, Content-Range, Date, Age, ETag, Retry-After, WWW-Authenticate, X-Request-Id';

export function commonHeaders(corsOrigin: string): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': corsOrigin,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
    'X-Content-Type-Options': 'nosniff',
  };
}

export const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
  'Access-Control-Allow-Headers': 'If-None-Match, If-Range, Range, X-Request-Id',
  'Access-Control-Max-Age': '86400',
};

/** Headers of init segments, segments and parts. */
export function mediaHeaders(file: MediaFile, corsOrigin: string): Record<string, string> {
  return {
    ...commonHeaders(corsOrigin),
    'Content-Type': contentTypeOf(file),
    'Cache-Control': CACHE_IMMUTABLE,
    'Accept-Ranges': 'bytes',
  };
}

/** `Cache-Control` of a playlist or manifest (SPEC M-21): half a segment while it changes. */
export function playlistCacheControl(
  { kind }: MediaFile,
  { isEnded, segmentMs, partMs }: Presentation,
  isBlockingReload: boolean,
): string {
  if (kind === 'master' || (kind === 'manifest' && isEnded)) return CACHE_MULTIVARIANT;
  if (isEnded) return CACHE_ENDED;
  if (isBlockingReload) {
    return `public, max-age=${BLOCKING_RELOAD_TARGETS * targetDurationS(segmentMs)}`;
  }
  if (segmentMs < 1_000 || partMs !== null) return CACHE_REVALIDATE;
  return `public, max-age=${Math.max(1, Math.floor(segmentMs / 2_000))}`;
}
