import type { BunRequest, Server, WebSocketHandler } from 'bun';
import type { Logger } from 'pino';
import { pathIds } from '../../http/parameters.ts';
import { Problem, problemFor, unauthorized } from '../../http/problem.ts';
import type { ReadOnlyOptions } from '../../http/read-only-route.ts';
import { baseHeaders } from '../../http/route.ts';
import { INTERNAL_ERROR, problemResponse } from '../../http/router.ts';
import { KeyWindows } from '../../platform/rate-limit/key-windows.ts';
import { type RateLimit, RateLimiter } from '../../platform/rate-limit/rate-limiter.ts';
import type { Ingest } from '../source.ts';
import {
  CLOSE_CODES,
  MESSAGE_BYTES_MAX,
  SOURCE_LIMITS,
  type SourceLimits,
  WebSocketSource,
} from './websocket-source.ts';

/** Where sources come in, as Bun's router writes it (SPEC M-4). */
export const INGEST_PATH = '/media/:stream_id/ingest';

export interface WebSocketIngestOptions extends ReadOnlyOptions {
  readonly ingest: Ingest;
  readonly logger: Logger;
  /** Whose share of the limits a client uses. */
  readonly addressOf: (request: Request) => string;
  readonly limits?: SourceLimits;
  /** Sockets of one address. */
  readonly rate?: RateLimit;
}

const ALLOW = 'GET, OPTIONS';

// Those that are larger than is allowed are told so; the runtime closes these with 1009.
const PAYLOAD_BYTES_MAX = 2 * MESSAGE_BYTES_MAX;

// Sockets that have not shown a key yet: each may hold a message of the largest size.
const OPENING_MAX = 64;
const OPENING_OF_ADDRESS_MAX = 8;
// Each that is live has an encoder; no machine runs as many.
const SOCKETS_MAX = 1_024;

// A sender whose line is bad comes back every few seconds; one that guesses is slowed.
const RATE: RateLimit = { points: 60, durationS: 60 };

// A source is heard from four times a second, and the runtime pings one that is silent. It counts in
// steps of 4 s: a peer that is dead is noticed after 8 s.
const IDLE_TIMEOUT_S = 8;

// A peer that does not answer a close is cut.
const CLOSE_MS = 1_000;

/** Sources that come by WebSocket, such as browsers (SPEC M-4). */
export class WebSocketIngest {
  /** For `Bun.serve`. */
  readonly handlers: WebSocketHandler<WebSocketSource>;
  private readonly sources = new Set<WebSocketSource>();
  private readonly opening = new Map<string, number>();
  private openingCount = 0;
  private stopped: (() => void) | null = null;
  private isStopping = false;
  private readonly rate: RateLimiter;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(private readonly options: WebSocketIngestOptions) {
    this.rate = new RateLimiter('sources from this address', new KeyWindows(options.rate ?? RATE));
    this.headers = baseHeaders(ALLOW, options.corsOrigin);
    this.handlers = {
      maxPayloadLength: PAYLOAD_BYTES_MAX,
      idleTimeout: IDLE_TIMEOUT_S,
      // We say little; a peer that reads none of it is no concern of ours.
      backpressureLimit: 64 << 10,
      closeOnBackpressureLimit: true,
      perMessageDeflate: false,
      open: (socket) => socket.data.opened(socket),
      message: (socket, message) => socket.data.message(message),
      close: (socket, code, reason) => {
        socket.data.closed(code, reason);
        this.sources.delete(socket.data);
        if (this.sources.size === 0) this.stopped?.();
      },
    };
  }

  /** Answers a request at `INGEST_PATH`; nothing when it has become a socket. */
  async upgrade(
    request: BunRequest<string>,
    server: Server<WebSocketSource>,
  ): Promise<Response | undefined> {
    const { headers } = this;
    const { log } = this.options;
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers });
    try {
      await this.admit(request, server);
      return undefined;
    } catch (error) {
      const requestId = log.requestId(request);
      const problem = problemFor(error, 'Token');
      if (problem === null) log.logDefect({ method: 'GET', path: INGEST_PATH }, requestId, error);
      return problemResponse(problem ?? INTERNAL_ERROR, request, headers, requestId);
    }
  }

  /** Ends all sources and takes no more; done when all sockets are closed. */
  async stop(): Promise<void> {
    this.isStopping = true;
    if (this.sources.size === 0) return;
    const all = new Promise<void>((resolve) => {
      this.stopped = resolve;
    });
    for (const source of this.sources) {
      source.close(CLOSE_CODES.unavailable, 'The service is stopping; come back in a moment.');
    }
    const timer = setTimeout(() => this.stopped?.(), CLOSE_MS);
    await all;
    clearTimeout(timer);
  }

  private async admit(request: BunRequest<string>, server: Server<WebSocketSource>): Promise<void> {
    if (request.method !== 'GET') throw new Problem(405, `This path takes ${ALLOW}.`);
    const { stream_id: streamId } = pathIds(request);
    if (!streamId) throw new Problem(404, 'There is no such stream.');
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') {
      throw new Problem(426, 'Open a WebSocket here, and send the stream key first.', {
        Upgrade: 'websocket',
        Connection: 'Upgrade',
      });
    }
    this.checkOrigin(request);
    const address = this.options.addressOf(request);
    this.rate.take(address);
    this.checkRoom(address);
    const source = this.newSource(streamId, address);
    if (!server.upgrade(request, { data: source })) {
      this.release(address);
      this.sources.delete(source);
      throw new Problem(400, 'This is no WebSocket handshake (RFC 6455).');
    }
  }

  // Browsers apply no CORS to sockets, so the setting is applied here.
  private checkOrigin(request: Request): void {
    const origin = request.headers.get('origin');
    const { corsOrigin } = this.options;
    if (origin === null || corsOrigin === '*' || origin === corsOrigin) return;
    if (URL.parse(origin)?.host === request.headers.get('host')) return;
    throw unauthorized('Token', 'Pages of this origin may not send here.');
  }

  private checkRoom(address: string): void {
    const ofAddress = this.opening.get(address) ?? 0;
    if (
      this.isStopping ||
      this.sources.size >= SOCKETS_MAX ||
      this.openingCount >= OPENING_MAX ||
      ofAddress >= OPENING_OF_ADDRESS_MAX
    ) {
      const why = this.isStopping ? 'The service is stopping.' : 'Too many sources are opening.';
      throw new Problem(503, `${why} Try again in a moment.`, { 'Retry-After': '1' });
    }
  }

  private newSource(streamId: string, address: string): WebSocketSource {
    this.openingCount++;
    this.opening.set(address, (this.opening.get(address) ?? 0) + 1);
    const { ingest, logger, limits = SOURCE_LIMITS } = this.options;
    const onSettled = () => this.release(address);
    const source = new WebSocketSource({ streamId, address, ingest, logger, limits, onSettled });
    this.sources.add(source);
    return source;
  }

  private release(address: string): void {
    this.openingCount--;
    const left = (this.opening.get(address) ?? 1) - 1;
    if (left > 0) this.opening.set(address, left);
    else this.opening.delete(address);
  }
}
