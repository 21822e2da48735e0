import { STATUS_CODES } from 'node:http';
import { problemFor } from '../http/problem.ts';
import { baseHeaders } from '../http/route.ts';
import { problemHeaders } from '../http/router.ts';
import type { Unavailable } from '../platform/errors.ts';
import { sealedCaching } from '../realtime/feed/feed-routes.ts';
import { OPENING } from '../realtime/feed/interval-stream.ts';

export interface AnswerBytesOptions {
  readonly corsOrigin: string;
  /** Let an edge that checks tokens itself keep sealed intervals. */
  readonly edgeCache: boolean;
  /** `Allow` of the feed. */
  readonly allow: string;
}

interface Made {
  readonly date: string;
  readonly bytes: Buffer;
}

/** An answer around what each client has of its own in it. */
type Halves = readonly [before: string, behind: string];

/** Where an id will be; no header can have it. */
const ID_PLACE = '\0';

/** What comes behind the last chunk of an event stream. */
export const LAST_CHUNK: Uint8Array = Buffer.from('0\r\n\r\n');

/**
 * Answers as bytes, with the headers that the origin server would give them. Each is made once for all
 * who get it, and again when the second has changed, for its `Date`.
 */
export class AnswerBytes {
  private date = new Date().toUTCString();
  private readonly madeNoContent = new Map<string, Buffer>();
  private readonly madeUnavailable = new Map<string, Halves>();
  private madeOpening: Buffer | null = null;
  // By the body: that of an interval in which nothing happened is one for all streams.
  private readonly sealedAnswers = new WeakMap<Uint8Array, Made>();

  constructor(private readonly options: AnswerBytesOptions) {}

  /** To be called once a second. */
  secondPassed(): void {
    this.date = new Date().toUTCString();
    this.madeNoContent.clear();
    this.madeUnavailable.clear();
    this.madeOpening = null;
  }

  /** 204. @param allow what the path takes */
  noContent(allow: string): Buffer {
    const made = this.madeNoContent.get(allow);
    if (made) return made;
    const head = this.head('204 No Content', baseHeaders(allow, this.options.corsOrigin));
    const bytes = Buffer.from(head);
    this.madeNoContent.set(allow, bytes);
    return bytes;
  }

  /**
   * 503 (R-15, N-9): all but the id is made once.
   * @param allow what the path takes
   * @param asProblem whether the client asked for the media type of problems
   */
  unavailable(allow: string, error: Unavailable, asProblem: boolean, requestId: string): Buffer {
    const key = `${error.retryAfterS} ${asProblem} ${allow}`;
    let halves = this.madeUnavailable.get(key);
    if (!halves) {
      halves = this.unavailableHalves(allow, error, asProblem);
      this.madeUnavailable.set(key, halves);
    }
    return Buffer.from(halves[0] + requestId + halves[1], 'latin1');
  }

  /** Any other answer, for one client. */
  whole({ status, headers }: Response, body: string): Buffer {
    const length = { 'Content-Length': `${Buffer.byteLength(body)}` };
    const head = this.head(`${status} ${STATUS_CODES[status]}`, {
      ...Object.fromEntries(headers),
      ...length,
    });
    return Buffer.from(head + body);
  }

  /** 200 with a sealed interval. */
  sealed(interval: number, body: Uint8Array): Buffer {
    const made = this.sealedAnswers.get(body);
    if (made?.date === this.date) return made.bytes;
    const head = this.head('200 OK', {
      ...baseHeaders(this.options.allow, this.options.corsOrigin),
      'Cache-Control': sealedCaching(this.options.edgeCache),
      'Content-Type': 'application/json',
      ETag: `"${interval}"`,
      'Content-Length': `${body.length}`,
    });
    const bytes = Buffer.concat([Buffer.from(head), body]);
    this.sealedAnswers.set(body, { date: this.date, bytes });
    return bytes;
  }

  /** 200 of an event stream, and what it begins with. */
  opening(): Buffer {
    this.madeOpening ??= Buffer.concat([
      Buffer.from(
        this.head('200 OK', {
          ...baseHeaders(this.options.allow, this.options.corsOrigin),
          'Content-Type': 'text/event-stream',
          'Transfer-Encoding': 'chunked',
        }),
      ),
      chunkOf(OPENING),
    ]);
    return this.madeOpening;
  }

  private unavailableHalves(allow: string, error: Unavailable, asProblem: boolean): Halves {
    const problem = problemFor(error, 'Bearer');
    if (!problem) throw new Error('It is no problem.');
    const body = JSON.stringify(problem.body());
    const base = baseHeaders(allow, this.options.corsOrigin);
    const head = this.head('503 Service Unavailable', {
      ...problemHeaders(problem, asProblem, base, ID_PLACE),
      'Content-Length': `${body.length}`,
    });
    const at = head.indexOf(ID_PLACE);
    return [head.slice(0, at), head.slice(at + ID_PLACE.length) + body];
  }

  private head(status: string, headers: Readonly<Record<string, string>>): string {
    const lines = Object.entries({ ...headers, Date: this.date }).map(([n, v]) => `${n}: ${v}\r\n`);
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

/** Frames what is sent to many as one chunk, once for all who get it one after the other. */
export class Chunks {
  private last: Uint8Array | null = null;
  private lastChunk: Buffer | null = null;

  of(bytes: Uint8Array): Buffer {
    if (this.last !== bytes || !this.lastChunk) {
      this.last = bytes;
      this.lastChunk = chunkOf(bytes);
    }
    return this.lastChunk;
  }
}
