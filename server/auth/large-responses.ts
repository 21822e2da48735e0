import type { BunRequest } from 'bun';
import { pageStream } from '../http/page-stream.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { Route } from '../http/route.ts';
import { RateLimited, Unavailable } from '../platform/errors.ts';
import { memberUuid, type StudioCaller } from './credentials.ts';
import type { JsonText } from './json-text.ts';

/** A response with less fits into the first send buffer of a connection, so that nothing waits for its client. */
export const LARGE_RESPONSE_BYTES = 64 << 10;
/** The memory of an export, which reads its rows in pages. */
export const EXPORT_BYTES = 2 << 20;
/** With this much unread, further requests of a member get 429. Responses already begun may exceed it. */
export const LARGE_RESPONSES_BYTES_MAX = 64 << 20;

/** A studio request and who sent it. */
export interface AuthorizedRequest {
  readonly request: BunRequest<string>;
  readonly route: Route;
  readonly caller: StudioCaller;
}

/**
 * Studio responses that take memory until their clients have read them (SPEC L-17). A list of 2,000 quizzes
 * can have 17 MB: 100 clients of one account that read at 20 KB/s took 1.9 GB.
 */
export class LargeResponses {
  /** The unread bytes of each member, and of the programs of each account; without those that have none. */
  private readonly bytesOf = new Map<string, number>();

  constructor(private readonly log: RequestLog) {}

  /** @throws RateLimited while the caller has `LARGE_RESPONSES_BYTES_MAX` unread */
  check(caller: StudioCaller): void {
    if ((this.bytesOf.get(keyOf(caller)) ?? 0) < LARGE_RESPONSES_BYTES_MAX) return;
    throw new RateLimited(
      'Read or cancel the large responses that are being sent to you first.',
      1,
    );
  }

  /** The body of a response with this JSON, which is read in parts if it is large. */
  json(request: AuthorizedRequest, json: JsonText): string | ReadableStream<Uint8Array> {
    const { bytes } = json;
    return bytes < LARGE_RESPONSE_BYTES ? json.toString() : this.body(request, json.texts(), bytes);
  }

  /**
   * A body whose next text is made when the client has taken the one before.
   * @param bytes the memory that it takes until then
   */
  body(
    { request, route, caller }: AuthorizedRequest,
    texts: AsyncGenerator<string> | Generator<string>,
    bytes: number,
  ): ReadableStream<Uint8Array> {
    const { log } = this;
    const requestId = log.requestId(request);
    return pageStream(texts, {
      onFailure: (error) => {
        if (error instanceof Unavailable) log.logBrokenOff(route.operation, requestId, error);
        else log.logDefect(route.operation, requestId, error);
      },
      // The runtime does not read the body of a response to HEAD, and so never ends it.
      onEnd: request.method === 'HEAD' ? () => {} : this.hold(request, keyOf(caller), bytes),
    });
  }

  /** @returns a function that releases the bytes; it is also called when the client goes away */
  private hold(request: Request, key: string, bytes: number): () => void {
    const { bytesOf } = this;
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      const rest = (bytesOf.get(key) ?? 0) - bytes;
      if (rest > 0) bytesOf.set(key, rest);
      else bytesOf.delete(key);
    };
    bytesOf.set(key, (bytesOf.get(key) ?? 0) + bytes);
    request.signal.addEventListener('abort', release, { once: true });
    if (request.signal.aborted) release();
    return release;
  }
}

const keyOf = ({ user, actor }: StudioCaller) => `${user.uuid} ${memberUuid(actor) ?? ''}`;
