import { STATUS_CODES } from 'node:http';
import { OPENING } from '../http/event-stream.ts';
import { problemFor } from '../http/problem.ts';
import { baseHeaders } from '../http/route.ts';
import { problemHeaders } from '../http/router.ts';
import type { Unavailable } from '../platform/errors.ts';
import { runtime } from '../platform/runtime.ts';
import { sealedCaching } from '../realtime/feed/feed-routes.ts';

export interface ResponseBytesOptions {
  readonly corsOrigin: string;
  /** Whether an edge that verifies tokens may cache sealed intervals. */
  readonly edgeCache: boolean;
  /** The `Allow` header of the feed. */
  readonly allow: string;
}

/** A response without its request id. */
type SplitResponse = readonly [beforeId: string, afterId: string];

/** Stands for a request id; no header can contain it. */
const ID_PLACEHOLDER = '\0';

/** Ends the body of an event stream. */
export const LAST_CHUNK: Uint8Array = Buffer.from('0\r\n\r\n');

/**
 * Builds responses as bytes, with the headers that the origin server would send. Responses that many
 * clients get are cached until the next second, since they contain `Date`.
 */
export class ResponseBytes {
  private date = new Date(runtime.systemMs()).toUTCString();
  private readonly cachedNoContent = new Map<string, Buffer>();
  private readonly cachedUnavailable = new Map<string, SplitResponse>();
  private cachedOpening: Buffer | null = null;
  // By body: all streams share one body for an interval without events. Without the renewal each second,
  // responses would live as long as their bodies: a viewer who reads a long show held 330 MB.
  private cachedSealed = new WeakMap<Uint8Array, Buffer>();

  constructor(private readonly options: ResponseBytesOptions) {}

  /** Renews `Date` and drops responses with the old one. Call it once a second. */
  refreshDate(): void {
    this.date = new Date(runtime.systemMs()).toUTCString();
    this.cachedNoContent.clear();
    this.cachedUnavailable.clear();
    this.cachedSealed = new WeakMap();
    this.cachedOpening = null;
  }

  /** 204. @param allow the `Allow` header */
  noContent(allow: string): Buffer {
    const cached = this.cachedNoContent.get(allow);
    if (cached) return cached;
    const head = this.buildHead('204 No Content', baseHeaders(allow, this.options.corsOrigin));
    const bytes = Buffer.from(head);
    this.cachedNoContent.set(allow, bytes);
    return bytes;
  }

  /**
   * 503 (SPEC R-15, N-9). Only the request id differs between clients.
   * @param allow the `Allow` header
   * @param asProblem whether the client accepts `application/problem+json`
   */
  unavailable(allow: string, error: Unavailable, asProblem: boolean, requestId: string): Buffer {
    const key = `${error.retryAfterS} ${asProblem} ${allow}`;
    let split = this.cachedUnavailable.get(key);
    if (!split) {
      split = this.buildUnavailable(allow, error, asProblem);
      this.cachedUnavailable.set(key, split);
    }
    return Buffer.from(split[0] + requestId + split[1], 'latin1');
  }

  /** Any other response. It is not cached. */
  encode({ status, headers }: Response, body: string): Buffer {
    const length = { 'Content-Length': `${Buffer.byteLength(body)}` };
    const head = this.buildHead(`${status} ${STATUS_CODES[status]}`, {
      ...Object.fromEntries(headers),
      ...length,
    });
    return Buffer.from(head + body);
  }

  /** 200 with a sealed interval. */
  sealed(interval: number, body: Uint8Array): Buffer {
    const cached = this.cachedSealed.get(body);
    if (cached) return cached;
    const head = this.buildHead('200 OK', {
      ...baseHeaders(this.options.allow, this.options.corsOrigin),
      'Cache-Control': sealedCaching(this.options.edgeCache),
      'Content-Type': 'application/json',
      ETag: `"${interval}"`,
      'Content-Length': `${body.length}`,
    });
    const bytes = Buffer.concat([Buffer.from(head), body]);
    this.cachedSealed.set(body, bytes);
    return bytes;
  }

  /** 200 with an event stream: the head and the first chunk. */
  opening(): Buffer {
    this.cachedOpening ??= Buffer.concat([
      Buffer.from(
        this.buildHead('200 OK', {
          ...baseHeaders(this.options.allow, this.options.corsOrigin),
          'Content-Type': 'text/event-stream',
          'Transfer-Encoding': 'chunked',
        }),
      ),
      chunkOf(OPENING),
    ]);
    return this.cachedOpening;
  }

  private buildUnavailable(allow: string, error: Unavailable, asProblem: boolean): SplitResponse {
    const problem = problemFor(error, 'Bearer');
    if (!problem) throw new Error('Unavailable has no problem details');
    const body = JSON.stringify(problem.body());
    const base = baseHeaders(allow, this.options.corsOrigin);
    const head = this.buildHead('503 Service Unavailable', {
      ...problemHeaders(problem, asProblem, base, ID_PLACEHOLDER),
      'Content-Length': `${body.length}`,
    });
    const idAt = head.indexOf(ID_PLACEHOLDER);
    return [head.slice(0, idAt), head.slice(idAt + ID_PLACEHOLDER.length) + body];
  }

  private buildHead(status: string, headers: Readonly<Record<string, string>>): string {
    const lines = Object.entries({ ...headers, Date: this.date }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`;
  }
}

function chunkOf(bytes: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`${bytes.length.toString(16)}\r\n`),
    bytes,
    Buffer.from('\r\n'),
  ]);
}

/** Encodes bytes as one chunk, once for consecutive clients that get the same bytes. */
export class ChunkEncoder {
  private last: Uint8Array | null = null;
  private lastChunk: Buffer | null = null;

  encode(bytes: Uint8Array): Buffer {
    if (this.last !== bytes || !this.lastChunk) {
      this.last = bytes;
      this.lastChunk = chunkOf(bytes);
    }
    return this.lastChunk;
  }
}
