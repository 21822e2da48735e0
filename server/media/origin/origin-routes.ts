import type { BunRequest } from 'bun';
import { LRUCache } from 'lru-cache';
import { uuid } from '../../../protocol/text.ts';
import { networkOf } from '../../http/address.ts';
import { Problem, problemFor } from '../../http/problem.ts';
import {
  type ReadHandler,
  type ReadOnlyOptions,
  readOnlyRoute,
} from '../../http/read-only-route.ts';
import type { PathHandler } from '../../http/router.ts';
import { dashManifest } from '../playlist/dash-manifest.ts';
import { hasTrack } from '../playlist/epochs.ts';
import { hlsMediaPlaylist } from '../playlist/hls-media.ts';
import { hlsMultivariantPlaylist } from '../playlist/hls-multivariant.ts';
import { type MediaPlaylistName, playlistContents } from '../playlist/playlist-contents.ts';
import { targetDurationS } from '../playlist/target-duration.ts';
import type { PlayableStream, PlayableStreams, Presentation } from '../segment.ts';
import {
  checkNotTooFarAhead,
  type DeliveryDirectives,
  isNextPart,
  isPartPast,
  isSatisfied,
  normalized,
  offeredDirectives,
  parseDirectives,
} from './delivery-directives.ts';
import { type MediaFile, parseMediaName, parsePlaylistName } from './media-file.ts';
import { MediaResponses } from './media-responses.ts';
import { type PendingClient, PendingRequests } from './pending-requests.ts';
import { PlaylistCache, type Render, type RenderedPlaylist } from './playlist-cache.ts';
import { commonHeaders, PREFLIGHT_HEADERS } from './response-headers.ts';

export interface OriginOptions extends ReadOnlyOptions {
  readonly streams: PlayableStreams;
  /** The rate limit key of a request's client. */
  readonly addressOf: (request: Request) => string;
  /** Where the files of a stream are; `/media/:stream_id` by default. Has the parameter `stream_id`. */
  readonly basePath?: string;
  /**
   * Checks the credential of each request; responses are then not cached. By default everybody may read.
   * @throws DomainError
   */
  readonly authorize?: (request: Request, streamId: string) => Promise<void>;
}

/** Totals since the start of the process. */
export interface OriginStats {
  /** Responses with a body, by kind of file. */
  readonly served: Readonly<Record<Exclude<MediaFile['kind'], 'recording'>, number>>;
  /** Bytes of response bodies, as sent. */
  readonly bytes: number;
  /** Requests that block now. */
  readonly pendingRequests: number;
}

type Params = Readonly<Record<string, string>>;
type Reply = Response | Promise<Response>;
/** Null: the file does not exist yet or was removed. */
type MediaBytes = Uint8Array | Blob | null;

// A stream lookup is asynchronous, and each viewer sends several requests a second.
const LOOKUP_CACHE_MAX = 1_000;
const LOOKUP_CACHE_MS = 1_000;

// RFC 8216bis, 6.2.5.2: a request that blocks for more target durations gets 503.
const BLOCKING_TARGETS = 3;
// The server closes a connection that is silent for 12 s.
const BLOCKING_MS_MAX = 9_000;

/** The HTTP routes for playlists, manifests, segments and parts (SPEC M-20 to M-31). */
export class Origin {
  readonly routes: Record<string, PathHandler>;
  private readonly pending = new PendingRequests();
  private readonly playlists = new PlaylistCache();
  private readonly lookups = new LRUCache<string, PlayableStream>({
    max: LOOKUP_CACHE_MAX,
    ttl: LOOKUP_CACHE_MS,
    // Otherwise an unused entry keeps all its segments in memory.
    ttlAutopurge: true,
  });
  private readonly responses: MediaResponses;

  constructor(private readonly options: OriginOptions) {
    const { basePath = '/media/:stream_id' } = options;
    this.responses = new MediaResponses(options.corsOrigin);
    this.routes = {
      ...this.route(`${basePath}/:name`, ({ name = '' }) => parsePlaylistName(name)),
      ...this.route(`${basePath}/:track/:name`, ({ track = '', name = '' }) =>
        parseMediaName(track, name),
      ),
    };
  }

  stats(): OriginStats {
    const { served, bytes } = this.responses;
    return { served, bytes, pendingRequests: this.pending.count };
  }

  /** Ends blocking requests and refuses new ones. */
  drain(): void {
    this.pending.drain();
  }

  private route(pattern: string, parse: (params: Params) => MediaFile | null) {
    const read = readOnlyRoute(pattern, this.reader(parse), this.options);
    const preflight = { ...commonHeaders(this.options.corsOrigin), ...PREFLIGHT_HEADERS };
    const handler: PathHandler = (request) =>
      request.method === 'OPTIONS'
        ? new Response(null, { status: 204, headers: preflight })
        : read(request);
    return { [pattern]: handler };
  }

  private reader(parse: (params: Params) => MediaFile | null): ReadHandler {
    return (request) => {
      try {
        const params = (request as BunRequest<string>).params as Params;
        const streamId = uuid.safeParse(params.stream_id).data;
        const file = parse(params);
        if (this.options.authorize) {
          return this.respondToMember(streamId, file, request).catch(throwProblem);
        }
        if (streamId === undefined || !file) throw notFound();
        const stream = this.lookups.get(streamId);
        const response = stream
          ? this.respond(stream, file, request)
          : this.findAndRespond(streamId, file, request);
        return response instanceof Promise ? response.catch(throwProblem) : response;
      } catch (error) {
        return throwProblem(error);
      }
    };
  }

  private async respondToMember(
    streamId: string | undefined,
    file: MediaFile | null,
    request: Request,
  ): Promise<Response> {
    await this.options.authorize?.(request, streamId ?? '');
    if (streamId === undefined || !file) throw notFound();
    const response = await this.findAndRespond(streamId, file, request);
    response.headers.set('Cache-Control', 'no-store');
    return response;
  }

  private async findAndRespond(streamId: string, file: MediaFile, request: Request) {
    const stream = await this.options.streams.find(streamId, this.networkOf(request));
    if (!stream) throw notFound();
    this.lookups.set(streamId, stream);
    return this.respond(stream, file, request);
  }

  private respond(stream: PlayableStream, file: MediaFile, request: Request): Reply {
    switch (file.kind) {
      case 'master':
        return this.respondPlaylist(stream, file, request, hlsMultivariantPlaylist);
      case 'manifest':
        return this.respondPlaylist(stream, file, request, dashManifest);
      case 'playlist':
      case 'recording':
        return this.respondMediaPlaylist(stream, file, request);
      case 'init':
        return this.respondMedia(stream.init(file.epoch, file.track), file, request);
      case 'segment':
        return this.respondSegment(stream.segment(file.epoch, file.seq, file.track), file, request);
      case 'part':
        return this.respondPart(stream, file, request);
    }
  }

  private respondMediaPlaylist(
    stream: PlayableStream,
    file: MediaPlaylistName,
    request: Request,
  ): Reply {
    const { track } = file;
    const requested = parseDirectives(request.url);
    const current = stream.presentation();
    // Nothing is cached for a track that does not exist.
    const isKnown = hasTrack(current.epochs, track);
    const presentation = isKnown ? playlistContents(current, file) : null;
    if (!presentation) throw notFound();
    const directives = offeredDirectives(presentation, requested);
    const render: Render = (current) => {
      const contents = playlistContents(current, file);
      return contents && hlsMediaPlaylist(contents, track, directives.skip);
    };
    const respond = () => this.respondPlaylist(stream, file, request, render, directives);
    if (isSatisfied(presentation, directives)) return respond();
    checkNotTooFarAhead(presentation, directives);
    const wanted = normalized(presentation, directives);
    const key = `${wanted.seq}.${wanted.part}`;
    const isReady = (current: Presentation) => isSatisfied(current, wanted);
    return this.pending
      .waitUntil(stream, key, isReady, blockingTimeoutMs(presentation), this.clientOf(request))
      .then(respond);
  }

  private respondPlaylist(
    stream: PlayableStream,
    file: MediaFile,
    request: Request,
    render: Render,
    directives: DeliveryDirectives | null = null,
  ): Reply {
    const track = 'track' in file ? file.track : '';
    const isMediaPlaylist = file.kind === 'playlist' || file.kind === 'recording';
    const reopenedMs = isMediaPlaylist ? file.reopenedMs : null;
    const key = `${file.kind} ${track} ${reopenedMs} ${directives?.skip ?? false}`;
    const isOfEarlierSession = (current: Pick<Presentation, 'reopenedMs'>) =>
      isMediaPlaylist && reopenedMs !== current.reopenedMs;
    const isBlockingReload = directives !== null && directives.seq !== null;
    const reply = (rendered: RenderedPlaylist | null) => {
      if (!rendered) throw notFound();
      const isEnded = rendered.isEnded || isOfEarlierSession(rendered);
      const state = { ...stream.presentation(), isEnded };
      return this.responses.playlist(rendered, file, request, state, isBlockingReload);
    };
    const isOfEarlier = isOfEarlierSession(stream.presentation());
    const network = () => this.networkOf(request);
    const isDeltaUpdate = directives?.skip ?? false;
    const options = { isOfEarlierSession: isOfEarlier, isDeltaUpdate, network };
    const rendered = this.playlists.get(stream, key, render, options);
    return rendered instanceof Promise ? rendered.then(reply) : reply(rendered);
  }

  private respondPart(
    stream: PlayableStream,
    file: MediaFile & { kind: 'part' },
    request: Request,
  ): Reply {
    const { epoch, seq, index, track } = file;
    const read = () => stream.part(epoch, seq, index, track);
    const bytes = read();
    const presentation = stream.presentation();
    if (bytes || !isNextPart(presentation, file)) return this.respondMedia(bytes, file, request);
    if (!hasTrack(presentation.epochs, track)) throw notFound();
    // The playlist announced this part: send it as soon as it exists.
    const isDecided = (current: Presentation) => read() !== null || isPartPast(current, file);
    const key = `${epoch}-${seq}.${index} ${track}`;
    return this.pending
      .waitUntil(stream, key, isDecided, blockingTimeoutMs(presentation), this.clientOf(request))
      .then(() => this.respondMedia(read(), file, request));
  }

  private networkOf(request: Request): string {
    const address = this.options.addressOf(request);
    return networkOf(address) ?? address;
  }

  private clientOf(request: Request): PendingClient {
    return { key: this.options.addressOf(request), signal: request.signal };
  }

  private respondSegment(bytes: MediaBytes, file: MediaFile, request: Request): Reply {
    if (!(bytes instanceof Blob)) return this.respondMedia(bytes, file, request);
    // The file may have been evicted since the lookup.
    return (bytes as Bun.BunFile)
      .exists()
      .then((exists) => this.respondMedia(exists ? bytes : null, file, request));
  }

  private respondMedia(bytes: MediaBytes, file: MediaFile, request: Request): Response {
    if (!bytes) throw notFound();
    return this.responses.media(bytes, file, request);
  }
}

function blockingTimeoutMs({ segmentMs }: Presentation): number {
  return Math.min(BLOCKING_TARGETS * targetDurationS(segmentMs) * 1_000, BLOCKING_MS_MAX);
}

function notFound(): Problem {
  return new Problem(404, 'This video does not exist or is not available now.');
}

/** @throws Problem for an expected error, else the error */
function throwProblem(error: unknown): never {
  throw problemFor(error, 'Token') ?? error;
}
