import type { Presentation } from '../segment.ts';
import { contentTypeOf, type MediaFile } from './media-file.ts';

/** A name of something that never changes. */
const FOREVER = 'public, max-age=31536000, immutable';
// Which renditions there are changes when the source comes back with another size.
const MASTER = 'public, max-age=5';
// Nothing changes any more, until it leaves.
const ENDED = 'public, max-age=60';
// For less than a second there is no word but this: a cache asks each time, by the entity tag.
const ASK_EACH_TIME = 'public, no-cache';
// RFC 8216bis, B.1: who asks for a later segment asks by another address.
const RELOAD_TARGETS = 6;

/** What pages of other origins may read of an answer (SPEC M-23). */
export const EXPOSED =
  'Content-Length, Content-Range, Date, Age, ETag, Retry-After, WWW-Authenticate, X-Request-Id';

/** Headers of everything that is served, whatever it is. */
export function commonHeaders(corsOrigin: string): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': corsOrigin,
    'Access-Control-Expose-Headers': EXPOSED,
    'X-Content-Type-Options': 'nosniff',
  };
}

/** Headers of the answer to a preflight, beside those of the path. */
export const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
  'Access-Control-Allow-Headers': 'If-None-Match, If-Range, Range, X-Request-Id',
  'Access-Control-Max-Age': '86400',
};

/** Headers of init segments, segments and parts. */
export function pieceHeaders(file: MediaFile, corsOrigin: string): Record<string, string> {
  return {
    ...commonHeaders(corsOrigin),
    'Content-Type': contentTypeOf(file),
    'Cache-Control': FOREVER,
    'Accept-Ranges': 'bytes',
  };
}

/** How long a playlist or manifest may be kept (SPEC M-21): half a segment while it grows. */
export function textLifetime(
  { kind }: MediaFile,
  { isEnded, segmentMs, partMs }: Presentation,
  reload: { readonly targetS: number } | null,
): string {
  if (isEnded) return ENDED;
  if (kind === 'master') return MASTER;
  if (reload) return `public, max-age=${RELOAD_TARGETS * reload.targetS}`;
  if (segmentMs < 1_000 || (kind === 'playlist' && partMs !== null)) return ASK_EACH_TIME;
  return `public, max-age=${Math.max(1, Math.floor(segmentMs / 2_000))}`;
}
