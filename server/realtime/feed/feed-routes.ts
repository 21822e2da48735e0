import { intervalAt, parseInterval } from '../../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../../protocol/limits.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { Viewer } from '../../auth/viewer-tokens/checked-viewers.ts';
import { prefers } from '../../http/accept.ts';
import { EVENT_STREAM, openingOnly } from '../../http/event-stream.ts';
import { Problem } from '../../http/problem.ts';
import type { Handlers, Route } from '../../http/route.ts';
import { sharedBody } from '../../http/shared-body.ts';
import type { Clock } from '../../platform/clock.ts';
import { openEventStream } from './event-stream.ts';
import type { FeedLog } from './feed-log.ts';
import type { OpenStreams } from './open-streams.ts';

export interface FeedRoutes {
  readonly log: FeedLog;
  readonly clock: Clock;
  readonly credentials: Credentials;
  readonly streams: OpenStreams;
  /** Whether a CDN edge that verifies viewer tokens may cache sealed intervals. */
  readonly edgeCache: boolean;
}

const SINGLE_PARAMETER_URL = /^[^?]*\?interval=(0|[1-9][0-9]{0,15})$/;
const LAST_EVENT_ID = 'Last-Event-ID';
const PRIVATE = 'private, max-age=31536000, immutable';
const SHARED = 'public, max-age=31536000, s-maxage=31536000, immutable';

/** `Cache-Control` of a sealed interval (F-18). */
export const sealedCaching = (edgeCache: boolean): string => (edgeCache ? SHARED : PRIVATE);

/** What all responses with one interval share. */
interface IntervalHeaders {
  readonly interval: number;
  readonly route: Route;
  readonly etag: string;
  readonly found: ResponseInit;
  readonly notModified: ResponseInit;
}

/** The events feed (SPEC F). */
export function feedHandlers({
  log,
  clock,
  credentials,
  streams,
  edgeCache,
}: FeedRoutes): Handlers<Pick<typeof viewerApi, 'readInterval'>> {
  const cacheControl = sealedCaching(edgeCache);

  // Most viewers read the same interval at the same time: its headers are created once. Responses
  // copy them.
  let newest: IntervalHeaders | null = null;

  function headersFor(interval: number, route: Route): IntervalHeaders {
    if (newest?.interval === interval && newest.route === route) return newest;
    // The bytes of an interval of a stream never change, so its number is a strong validator.
    const etag = `"${interval}"`;
    const caching = { 'Cache-Control': cacheControl, ETag: etag };
    newest = {
      interval,
      route,
      etag,
      found: { headers: new Headers({ ...route.jsonHeaders, ...caching }) },
      notModified: { status: 304, headers: new Headers({ ...route.headers, ...caching }) },
    };
    return newest;
  }

  function respond(body: Uint8Array, interval: number, request: Request, route: Route): Response {
    const { etag, found, notModified } = headersFor(interval, route);
    if (matches(request.headers.get('if-none-match'), etag)) return new Response(null, notModified);
    return new Response(sharedBody(body), found);
  }

  function eventStream(viewer: Viewer, from: number, request: Request, route: Route): Response {
    const headers = { ...route.headers, 'Content-Type': EVENT_STREAM };
    if (request.method === 'HEAD') return new Response(openingOnly(), { headers });
    const { streamId } = viewer;
    const client = route.clientRateKey(request);
    const stream = streams.open(viewer, client, (observer) =>
      openEventStream({ log, streamId, from, client: () => client, ...observer }),
    );
    return new Response(stream.body, { headers });
  }

  const read = (viewer: Viewer, request: Request, route: Route) => {
    const current = intervalAt(clock.nowMs());
    if (prefers(request.headers.get('accept'), EVENT_STREAM)) {
      const last = request.headers.get(LAST_EVENT_ID);
      const from =
        last === null
          ? requireNotAhead(intervalOf(request.url), current)
          : intervalAfter(last, current);
      return eventStream(viewer, from, request, route);
    }
    const interval = requireNotAhead(intervalOf(request.url), current);
    const body = log.read(viewer.streamId, interval, () => route.clientRateKey(request));
    if (!(body instanceof Promise)) return respond(body, interval, request, route);
    return body.then((bytes) => respond(bytes, interval, request, route));
  };

  /** The requested interval. @throws Problem 400 */
  function intervalOf(url: string): number {
    const match = SINGLE_PARAMETER_URL.exec(url);
    if (match) return requireCanonical(match[1] ?? '', intervalAt(clock.nowMs()));
    const query = url.indexOf('?');
    const values = query < 0 ? [] : new URLSearchParams(url.slice(query)).getAll('interval');
    const current = intervalAt(clock.nowMs());
    if (values.length !== 1) throw badInterval('Send the query parameter interval once.', current);
    return requireCanonical(values[0] ?? '', current);
  }

  return {
    readInterval: (request, route) => {
      const viewer = credentials.viewer(request, route, request.params.stream_id ?? '');
      if (viewer instanceof Promise) return viewer.then((checked) => read(checked, request, route));
      return read(viewer, request, route);
    },
  };
}

/** @throws Problem 400 */
function requireCanonical(text: string, current: number, name = 'interval'): number {
  const interval = parseInterval(text);
  if (!Number.isNaN(interval)) return interval;
  throw badInterval(`${name} must be one canonical integer, like 7040000000.`, current);
}

/** The interval after the last one that a reconnecting client received. @throws Problem 400 */
function intervalAfter(lastEventId: string, current: number): number {
  const next = requireCanonical(lastEventId, current, LAST_EVENT_ID) + 1;
  if (next <= current + AHEAD_INTERVALS) return next;
  throw badInterval(`${LAST_EVENT_ID} is more than ${AHEAD_INTERVALS - 1} ahead.`, current);
}

/** @throws Problem 400 when the interval is too far ahead of the current one */
function requireNotAhead(interval: number, current: number): number {
  if (interval <= current + AHEAD_INTERVALS) return interval;
  throw badInterval(`interval is more than ${AHEAD_INTERVALS} ahead.`, current);
}

function badInterval(detail: string, current: number): Problem {
  const members = { interval: current };
  return new Problem(400, `${detail} The current interval is ${current}.`, {}, members);
}

function matches(header: string | null, etag: string): boolean {
  if (header === null) return false;
  const tags = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || header.trim() === '*';
}
