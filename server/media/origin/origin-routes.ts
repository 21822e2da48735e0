import type { BunRequest } from 'bun';
import { LRUCache } from 'lru-cache';
import { uuid } from '../../../protocol/text.ts';
import { Problem, problemOf } from '../../http/problem.ts';
import { type Reader, type ReadOnlyOptions, readOnlyPath } from '../../http/read-only.ts';
import type { PathHandler } from '../../http/router.ts';
import { dashManifest } from '../playlist/dash-manifest.ts';
import { hlsMaster } from '../playlist/hls-master.ts';
import { hlsMedia } from '../playlist/hls-media.ts';
import { targetDurationS } from '../playlist/target-duration.ts';
import type { Playable, Playables, Presentation } from '../segment.ts';
import { hasTag, rangeOf, takesGzip } from './byte-range.ts';
import { HeldRequests } from './held-requests.ts';
import { contentTypeOf, type MediaFile, pieceNamed, playlistNamed } from './media-file.ts';
import { commonHeaders, EXPOSED, PREFLIGHT, pieceHeaders, textLifetime } from './origin-headers.ts';
import { checkAhead, isNextPart, isPast, isThere, type Reload, reloadOf } from './reload.ts';
import { RenderedTexts, zipped } from './rendered-texts.ts';

export interface OriginOptions extends ReadOnlyOptions {
  readonly playables: Playables;
}

/** What was served since the start. */
export interface OriginStats {
  /** Answers with something in them, by what it is. */
  readonly served: Readonly<Record<MediaFile['kind'], number>>;
  /** In their bodies, as they were sent. */
  readonly bytes: number;
  /** Requests that are held now. */
  readonly held: number;
}

/** The paths that video is played from. */
export interface Origin {
  readonly routes: Record<string, PathHandler>;
  /** Answers what is held, and holds no more. */
  drain(): void;
  stats(): OriginStats;
}

// Looking up a stream is a promise, and each of its viewers asks for several things a second.
const FOUND_MAX = 1_000;
const FOUND_MS = 1_000;

// RFC 8216bis, 6.2.5.2: a request that waits longer is answered 503.
const HELD_TARGETS = 3;
// The server closes a connection that is silent for 12 s.
const HELD_MS_MAX = 9_000;

// Shorter ones fit into a packet as they are.
const ZIP_BYTES_MIN = 1_000;

/** Playlists, manifests, segments and parts of all streams, by path (SPEC M-20 to M-31). */
export function originRoutes(options: OriginOptions): Origin {
  const service = new OriginService(options);
  const path = (pattern: string, named: (params: Params) => MediaFile | null) =>
    [pattern, service.path(pattern, named)] as const;
  return {
    routes: Object.fromEntries([
      path('/media/:stream_id/:name', ({ name = '' }) => playlistNamed(name)),
      path('/media/:stream_id/:track/:name', ({ track = '', name = '' }) =>
        pieceNamed(track, name),
      ),
    ]),
    drain: () => service.held.drain(),
    stats: () => service.stats(),
  };
}

type Params = Readonly<Record<string, string>>;

class OriginService {
  readonly held = new HeldRequests();
  private readonly texts = new RenderedTexts();
  private readonly found = new LRUCache<string, Playable>({
    max: FOUND_MAX,
    ttl: FOUND_MS,
    // Else what nobody asks for any more is kept with all its segments.
    ttlAutopurge: true,
  });
  private readonly served = { master: 0, manifest: 0, playlist: 0, init: 0, segment: 0, part: 0 };
  private bytes = 0;

  constructor(private readonly options: OriginOptions) {}

  stats(): OriginStats {
    return { served: this.served, bytes: this.bytes, held: this.held.count };
  }

  path(pattern: string, named: (params: Params) => MediaFile | null): PathHandler {
    const { corsOrigin } = this.options;
    const read = readOnlyPath(pattern, this.reader(named), this.options);
    const preflight = { ...commonHeaders(corsOrigin), ...PREFLIGHT };
    return (request) =>
      request.method === 'OPTIONS'
        ? new Response(null, { status: 204, headers: preflight })
        : read(request);
  }

  private reader(named: (params: Params) => MediaFile | null): Reader {
    return (request) => {
      try {
        const params = (request as BunRequest<string>).params as Params;
        const streamId = uuid.safeParse(params.stream_id).data;
        const file = named(params);
        if (streamId === undefined || !file) throw unknown();
        const known = this.found.get(streamId);
        const answer = known
          ? this.answer(known, file, request)
          : this.lookUp(streamId, file, request);
        return answer instanceof Promise ? answer.catch(told) : answer;
      } catch (error) {
        return told(error);
      }
    };
  }

  private async lookUp(streamId: string, file: MediaFile, request: Request): Promise<Response> {
    const playable = await this.options.playables.find(streamId);
    if (!playable) throw unknown();
    this.found.set(streamId, playable);
    return this.answer(playable, file, request);
  }

  private answer(
    playable: Playable,
    file: MediaFile,
    request: Request,
  ): Response | Promise<Response> {
    switch (file.kind) {
      case 'master':
        return this.text(playable, file, request, hlsMaster);
      case 'manifest':
        return this.text(playable, file, request, dashManifest);
      case 'playlist':
        return this.playlist(playable, file.track, file, request);
      case 'init':
        return this.piece(playable.init(file.epoch, file.track), file, request);
      case 'segment':
        return this.segment(playable.segment(file.epoch, file.seq, file.track), file, request);
      case 'part':
        return this.part(playable, file, request);
    }
  }

  private playlist(
    playable: Playable,
    track: string,
    file: MediaFile,
    request: Request,
  ): Response | Promise<Response> {
    const reload = reloadOf(request.url);
    const { skip } = reload;
    const answer = () =>
      this.text(playable, file, request, (it) => hlsMedia(it, track, { skip }), reload);
    const presentation = playable.presentation();
    if (isThere(presentation, reload)) return answer();
    if (!hasTrack(presentation, track)) throw unknown();
    checkAhead(presentation, reload);
    const name = `${reload.seq}.${reload.part}`;
    const there = (it: Presentation) => isThere(it, reload);
    return this.held.until(playable, name, there, heldMs(presentation)).then(answer);
  }

  private text(
    playable: Playable,
    file: MediaFile,
    request: Request,
    render: (presentation: Presentation) => string | null,
    reload: Reload | null = null,
  ): Response | Promise<Response> {
    const track = 'track' in file ? file.track : '';
    const name = `${file.kind} ${track} ${reload?.skip ?? false}`;
    const rendered = this.texts.of(playable, name, render);
    if (!rendered) throw unknown();
    const presentation = playable.presentation();
    const isReload = reload !== null && reload.seq !== null;
    const targetS = targetDurationS(presentation.segmentMs);
    const headers: Record<string, string> = {
      ...commonHeaders(this.options.corsOrigin),
      'Content-Type': contentTypeOf(file),
      'Cache-Control': textLifetime(file, presentation, isReload ? { targetS } : null),
      Vary: 'Accept-Encoding',
      ETag: rendered.etag,
    };
    if (hasTag(request.headers.get('if-none-match'), rendered.etag)) return notModified(headers);
    const isZipped =
      rendered.plain.byteLength >= ZIP_BYTES_MIN &&
      takesGzip(request.headers.get('accept-encoding'));
    if (!isZipped) return this.ok(file, request, rendered.plain, headers);
    headers['Content-Encoding'] = 'gzip';
    const bytes = zipped(rendered);
    return bytes instanceof Promise
      ? bytes.then((each) => this.ok(file, request, each, headers))
      : this.ok(file, request, bytes, headers);
  }

  private part(
    playable: Playable,
    file: MediaFile & { kind: 'part' },
    request: Request,
  ): Response | Promise<Response> {
    const { epoch, seq, index, track } = file;
    const found = () => playable.part(epoch, seq, index, track);
    const bytes = found();
    const presentation = playable.presentation();
    if (bytes || !isNextPart(presentation, file)) return this.piece(bytes, file, request);
    if (!hasTrack(presentation, track)) throw unknown();
    // It was hinted at, and is sent as soon as it is there.
    const isKnown = (it: Presentation) => found() !== null || isPast(it, file);
    const name = `${epoch}-${seq}.${index} ${track}`;
    return this.held
      .until(playable, name, isKnown, heldMs(presentation))
      .then(() => this.piece(found(), file, request));
  }

  private segment(
    bytes: Uint8Array | Blob | null,
    file: MediaFile,
    request: Request,
  ): Response | Promise<Response> {
    if (!(bytes instanceof Blob)) return this.piece(bytes, file, request);
    // Between two requests the file may have left to make room.
    return (bytes as Bun.BunFile)
      .exists()
      .then((isThere) => this.piece(isThere ? bytes : null, file, request));
  }

  private piece(bytes: Uint8Array | Blob | null, file: MediaFile, request: Request): Response {
    if (!bytes) throw unknown();
    const size = bytes instanceof Blob ? bytes.size : bytes.byteLength;
    const headers = pieceHeaders(file, this.options.corsOrigin);
    const etag = `"${tagOf(file)}-${size}"`;
    headers.ETag = etag;
    const asked = request.headers;
    if (hasTag(asked.get('if-none-match'), etag)) return notModified(headers);
    const ifRange = asked.get('if-range');
    // By strong comparison; a date is none that we ever gave.
    const range = ifRange === null || ifRange === etag ? rangeOf(asked.get('range'), size) : null;
    if (range === null) return this.ok(file, request, bytes, headers);
    if (range === 'unsatisfiable') throw unsatisfiable(size);
    headers['Content-Range'] = `bytes ${range.from}-${range.to - 1}/${size}`;
    const piece =
      bytes instanceof Blob
        ? bytes.slice(range.from, range.to)
        : bytes.subarray(range.from, range.to);
    return this.ok(file, request, piece, headers, 206);
  }

  private ok(
    { kind }: MediaFile,
    request: Request,
    body: Uint8Array | Blob,
    headers: Record<string, string>,
    status = 200,
  ): Response {
    this.served[kind]++;
    if (request.method === 'GET') this.bytes += body instanceof Blob ? body.size : body.byteLength;
    return new Response(body as Uint8Array<ArrayBuffer> | Blob, { status, headers });
  }
}

function notModified(headers: Record<string, string>): Response {
  const { 'Content-Type': _, ...rest } = headers;
  return new Response(null, { status: 304, headers: rest });
}

/** Which of a stream's files it is. */
function tagOf(file: MediaFile): string {
  if (file.kind === 'init') return `init-${file.epoch}`;
  if (file.kind === 'part') return `${file.epoch}-${file.seq}.${file.index}`;
  return file.kind === 'segment' ? `${file.epoch}-${file.seq}` : file.kind;
}

function hasTrack({ epochs }: Presentation, track: string): boolean {
  return epochs.some(({ tracks }) => tracks.some(({ id }) => id === track));
}

function heldMs({ segmentMs }: Presentation): number {
  return Math.min(HELD_TARGETS * targetDurationS(segmentMs) * 1_000, HELD_MS_MAX);
}

/** What a path answers that names nothing, or nothing yet, or nothing any more. */
function unknown(): Problem {
  return new Problem(404, 'There is no such video, or not now.');
}

function unsatisfiable(size: number): Problem {
  return new Problem(416, 'It has no such bytes.', {
    'Content-Range': `bytes */${size}`,
    'Access-Control-Expose-Headers': EXPOSED,
  });
}

/** @throws what a client is told of it */
function told(error: unknown): never {
  throw problemOf(error, 'Token') ?? error;
}
