import type { BunRequest, Server, WebSocketHandler } from 'bun';
import type { Logger } from 'pino';
import { networkOf } from '../../http/address.ts';
import { pathIds } from '../../http/parameters.ts';
import { Problem, problemFor, unauthorized } from '../../http/problem.ts';
import type { ReadOnlyOptions } from '../../http/read-only-route.ts';
import { baseHeaders } from '../../http/route.ts';
import { INTERNAL_ERROR, problemResponse } from '../../http/router.ts';
import { KeyWindows, type RateLimit, RateLimiter } from '../../platform/rate-limiter.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Ingest } from '../source.ts';
import { WaitingConnections } from '../waiting-connections.ts';
import {
  CLOSE_CODES,
  MAX_MESSAGE_BYTES,
  SOURCE_LIMITS,
  type SourceLimits,
  WebSocketSource,
} from './websocket-source.ts';

/** Path of the endpoint, in the syntax of Bun's router (SPEC M-4). */
export const INGEST_PATH = '/media/:stream_id/ingest';

export interface WebSocketIngestOptions extends ReadOnlyOptions {
  readonly ingest: Ingest;
  readonly logger: Logger;
  /** The client address to which limits apply. */
  readonly addressOf: (request: Request) => string;
  readonly limits?: SourceLimits;
  /** Rate limit of sockets per address. */
  readonly rate?: RateLimit;
}

const ALLOW = 'GET, OPTIONS';

// Above the message limit, so that an oversized message gets our close code; beyond this, Bun closes
// with 1009.
const MAX_PAYLOAD_BYTES = 2 * MAX_MESSAGE_BYTES;

/**
 * Sockets without a verified key. A further one replaces one of them: silent sockets from a few addresses must not
 * keep all sources out.
 */
export const MAX_OPENING = 64;
/** Of these, those of one address. */
export const MAX_OPENING_PER_ADDRESS = 8;
/** Open sockets in all. Each live one has an encoder; no machine runs this many. */
export const MAX_SOCKETS = 1_024;

// Allows a reconnect every second; slows down key guessing.
const RATE: RateLimit = { points: 60, durationS: 60 };

// A source sends four times a second, and Bun pings a silent one. Bun counts in steps of 4 s: a dead
// peer is closed after 8 s.
const IDLE_TIMEOUT_S = 8;

// `stop` does not wait longer for peers to acknowledge a close.
const CLOSE_TIMEOUT_MS = 1_000;

/** The endpoint for WebSocket sources, such as browsers (SPEC M-4). */
export class WebSocketIngest {
  /** For `Bun.serve`. */
  readonly handlers: WebSocketHandler<WebSocketSource>;
  private readonly sources = new Set<WebSocketSource>();
  /** Those without a verified key. */
  private readonly opening = new WaitingConnections<WebSocketSource>();
  private readonly openingByAddress = new Map<string, number>();
  private onAllClosed: (() => void) | null = null;
  private isStopping = false;
  private readonly rate: RateLimiter;
  private readonly headers: Readonly<Record<string, string>>;

  constructor(private readonly options: WebSocketIngestOptions) {
    const windows = new KeyWindows(options.rate ?? RATE, { networkOf });
    this.rate = new RateLimiter('sources from this address', windows);
    this.headers = baseHeaders(ALLOW, options.corsOrigin);
    this.handlers = {
      maxPayloadLength: MAX_PAYLOAD_BYTES,
      idleTimeout: IDLE_TIMEOUT_S,
      // The server sends little; disconnect a peer that reads none of it.
      backpressureLimit: 64 << 10,
      closeOnBackpressureLimit: true,
      perMessageDeflate: false,
      open: (socket) => socket.data.onOpen(socket),
      message: (socket, message) => socket.data.onMessage(message),
      close: (socket, code, reason) => {
        socket.data.onClose(code, reason);
        this.sources.delete(socket.data);
        if (this.sources.size === 0) this.onAllClosed?.();
      },
    };
  }

  /** Handles a request to `INGEST_PATH`. @returns undefined when it was upgraded to a WebSocket */
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

  /** Ends all sources and rejects new ones. @returns fulfilled when all sockets are closed */
  async stop(): Promise<void> {
    this.isStopping = true;
    if (this.sources.size === 0) return;
    const allClosed = new Promise<void>((resolve) => {
      this.onAllClosed = resolve;
    });
    for (const source of this.sources) {
      source.close(CLOSE_CODES.unavailable, 'The service is stopping; reconnect in a moment.');
    }
    const timer = runtime.setTimeout(() => this.onAllClosed?.(), CLOSE_TIMEOUT_MS);
    await allClosed;
    runtime.clearTimer(timer);
  }

  private async admit(request: BunRequest<string>, server: Server<WebSocketSource>): Promise<void> {
    if (request.method !== 'GET') throw new Problem(405, `This path allows ${ALLOW}.`);
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
    this.checkLimits(address);
    const source = this.newSource(streamId, address);
    if (!server.upgrade(request, { data: source })) {
      this.release(source, address);
      this.sources.delete(source);
      throw new Problem(400, 'This is not a WebSocket handshake (RFC 6455).');
    }
  }

  // Browsers do not apply CORS to WebSockets, so the setting is enforced here.
  private checkOrigin(request: Request): void {
    const origin = request.headers.get('origin');
    const { corsOrigin } = this.options;
    if (origin === null || corsOrigin === '*' || origin === corsOrigin) return;
    if (URL.parse(origin)?.host === request.headers.get('host')) return;
    throw unauthorized('Token', 'Pages of this origin are not allowed to send.');
  }

  private checkLimits(address: string): void {
    const openingFromAddress = this.openingByAddress.get(address) ?? 0;
    if (
      this.isStopping ||
      this.sources.size >= MAX_SOCKETS ||
      openingFromAddress >= MAX_OPENING_PER_ADDRESS
    ) {
      const reason = this.isStopping ? 'The service is stopping.' : 'Too many sources are opening.';
      throw new Problem(503, `${reason} Try again in a moment.`, { 'Retry-After': '1' });
    }
  }

  private newSource(streamId: string, address: string): WebSocketSource {
    if (this.opening.size >= MAX_OPENING) {
      const detail = 'Too many sources are opening. Send the key at once.';
      this.opening.longestWaiting()?.close(CLOSE_CODES.unavailable, detail);
    }
    const { ingest, logger, limits = SOURCE_LIMITS } = this.options;
    const onSettled = () => this.release(source, address);
    const source = new WebSocketSource({ streamId, address, ingest, logger, limits, onSettled });
    this.sources.add(source);
    this.opening.add(source, address);
    this.openingByAddress.set(address, (this.openingByAddress.get(address) ?? 0) + 1);
    return source;
  }

  private release(source: WebSocketSource, address: string): void {
    this.opening.delete(source);
    const remaining = (this.openingByAddress.get(address) ?? 1) - 1;
    if (remaining > 0) this.openingByAddress.set(address, remaining);
    else this.openingByAddress.delete(address);
  }
}
