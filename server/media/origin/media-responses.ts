import { Problem } from '../../http/problem.ts';
import { sharedBody } from '../../http/shared-body.ts';
import type { Presentation } from '../segment.ts';
import { contentTypeOf, type MediaFile } from './media-file.ts';
import { gzipped, type RenderedPlaylist } from './playlist-cache.ts';
import { acceptsGzip, matchesEtag, parseRange } from './request-headers.ts';
import {
  commonHeaders,
  EXPOSED_HEADERS,
  mediaHeaders,
  playlistCacheControl,
} from './response-headers.ts';

// Playlists with fewer bytes fit into one packet uncompressed.
const GZIP_BYTES_MIN = 1_000;

/** Builds conditional, compressed and partial responses, and counts them. */
export class MediaResponses {
  /** Responses with a body, by kind of file; the playlist of a recording is a playlist. */
  readonly served = { master: 0, manifest: 0, playlist: 0, init: 0, segment: 0, part: 0 };
  /** Bytes of response bodies, as sent. */
  bytes = 0;

  constructor(private readonly corsOrigin: string) {}

  playlist(
    rendered: RenderedPlaylist,
    file: MediaFile,
    request: Request,
    presentation: Presentation,
    isBlockingReload: boolean,
  ): Response | Promise<Response> {
    const headers: Record<string, string> = {
      ...commonHeaders(this.corsOrigin),
      'Content-Type': contentTypeOf(file),
      'Cache-Control': playlistCacheControl(file, presentation, isBlockingReload),
      Vary: 'Accept-Encoding',
      ETag: rendered.etag,
    };
    if (matchesEtag(request.headers.get('if-none-match'), rendered.etag))
      return notModified(headers);
    const isGzipped =
      rendered.plain.byteLength >= GZIP_BYTES_MIN &&
      acceptsGzip(request.headers.get('accept-encoding'));
    if (!isGzipped) return this.ok(file, request, sharedBody(rendered.plain), headers);
    headers['Content-Encoding'] = 'gzip';
    const bytes = gzipped(rendered);
    return bytes instanceof Promise
      ? bytes.then((compressed) => this.ok(file, request, sharedBody(compressed), headers))
      : this.ok(file, request, sharedBody(bytes), headers);
  }

  /** A response with an init segment, segment or part, or a range of it. @throws Problem 416 */
  media(bytes: Uint8Array | Blob, file: MediaFile, request: Request): Response {
    const body = sharedBody(bytes);
    const { size } = body;
    const headers = mediaHeaders(file, this.corsOrigin);
    const etag = `"${etagName(file)}-${size}"`;
    headers.ETag = etag;
    const requestHeaders = request.headers;
    if (matchesEtag(requestHeaders.get('if-none-match'), etag)) return notModified(headers);
    const ifRange = requestHeaders.get('if-range');
    // Strong comparison. Dates never match, because responses have no `Last-Modified`.
    const range =
      ifRange === null || ifRange === etag ? parseRange(requestHeaders.get('range'), size) : null;
    if (range === null) return this.ok(file, request, body, headers);
    if (range === 'unsatisfiable') throw unsatisfiable(size);
    headers['Content-Range'] = `bytes ${range.from}-${range.to - 1}/${size}`;
    return this.ok(file, request, body.slice(range.from, range.to), headers, 206);
  }

  private ok(
    { kind }: MediaFile,
    request: Request,
    body: Blob,
    headers: Record<string, string>,
    status = 200,
  ): Response {
    this.served[kind === 'recording' ? 'playlist' : kind]++;
    if (request.method === 'GET') this.bytes += body.size;
    return new Response(body, { status, headers });
  }
}

function notModified(headers: Record<string, string>): Response {
  const { 'Content-Type': _, ...rest } = headers;
  return new Response(null, { status: 304, headers: rest });
}

/** Identifies a file within its stream. */
function etagName(file: MediaFile): string {
  if (file.kind === 'init') return `init-${file.epoch}`;
  if (file.kind === 'part') return `${file.epoch}-${file.seq}.${file.index}`;
  return file.kind === 'segment' ? `${file.epoch}-${file.seq}` : file.kind;
}

function unsatisfiable(size: number): Problem {
  return new Problem(416, 'The file does not have the requested bytes.', {
    'Content-Range': `bytes */${size}`,
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
  });
}
