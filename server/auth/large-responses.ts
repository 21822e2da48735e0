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
/** With this much unread, requests of an account for large responses get 429. */
export const LARGE_RESPONSES_OF_ACCOUNT_BYTES_MAX = 128 << 20;
/** With more unread on a node, so do those of each account that has at least an equal share of it. */
export const LARGE_RESPONSES_OF_NODE_BYTES_MAX = 512 << 20;

/** A studio request and who sent it. */
export interface AuthorizedRequest {
  readonly request: BunRequest<string>;
  readonly route: Route;
  readonly caller: StudioCaller;
}

/**
 * Studio responses that take memory until their clients have read them (SPEC L-17). A list of 2,000 quizzes
 * can have 17 MB: 100 clients of one account that read at 20 KB/s took 1.9 GB.
 *
 * Few responses are made between the check and the count. Large operations are checked when their turn comes (L-19),
 * and all but writes again when they end: four are in progress, each of another account. Imports run one at a time.
 * A list of streams, which is read in many turns, counts from its first one.
 */
export class LargeResponses {
  /** Of each member, and of the programs of each account. */
  private readonly ofCallers = new UnreadBytes();
  private readonly ofAccounts = new UnreadBytes();

  constructor(private readonly log: RequestLog) {}

  /** Checks any request. @throws RateLimited while the caller has `LARGE_RESPONSES_BYTES_MAX` unread */
  check(caller: StudioCaller): void {
    if (this.ofCallers.of(keyOf(caller)) < LARGE_RESPONSES_BYTES_MAX) return;
    throw tooMuch('you');
  }

  /**
   * Checks a request whose response may be large. A host on air goes on without them: other members of the account
   * cannot stop it.
   * @throws RateLimited while the caller, its account or the node has too much unread
   */
  checkLarge(caller: StudioCaller): void {
    this.check(caller);
    const { ofAccounts } = this;
    const bytes = ofAccounts.of(caller.user.uuid);
    if (bytes >= LARGE_RESPONSES_OF_ACCOUNT_BYTES_MAX) throw tooMuch('your account');
    // An account with less is served: others must not keep it out.
    const hasShare = bytes >= ofAccounts.total / ofAccounts.keys;
    if (ofAccounts.total > LARGE_RESPONSES_OF_NODE_BYTES_MAX && hasShare) {
      throw tooMuch('your account');
    }
  }

  /**
   * Counts the memory of a response that is being made.
   * @returns a function that releases it
   * @throws RateLimited as `checkLarge`
   */
  reserve({ request, caller }: AuthorizedRequest, bytes: number): () => void {
    this.checkLarge(caller);
    return this.hold(request, caller, bytes);
  }

  /**
   * The body of a response with this JSON, which is read in parts if it is large.
   * @throws RateLimited as `checkLarge`, unless a write was made
   */
  json(authorized: AuthorizedRequest, json: JsonText): string | ReadableStream<Uint8Array> {
    if (json.bytes < LARGE_RESPONSE_BYTES) return json.toString();
    if (authorized.route.operation.method === 'GET') this.checkLarge(authorized.caller);
    return this.body(authorized, json.texts(), json.memoryBytes);
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
      onEnd: request.method === 'HEAD' ? () => {} : this.hold(request, caller, bytes),
    });
  }

  /** @returns a function that releases the bytes; it is also called when the client goes away */
  private hold(request: Request, caller: StudioCaller, bytes: number): () => void {
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      this.add(caller, -bytes);
    };
    this.add(caller, bytes);
    request.signal.addEventListener('abort', release, { once: true });
    if (request.signal.aborted) release();
    return release;
  }

  private add(caller: StudioCaller, bytes: number): void {
    this.ofCallers.add(keyOf(caller), bytes);
    this.ofAccounts.add(caller.user.uuid, bytes);
  }
}

/** Bytes by key, without keys that have none. */
class UnreadBytes {
  private readonly bytesOf = new Map<string, number>();
  total = 0;

  get keys(): number {
    return this.bytesOf.size;
  }

  of(key: string): number {
    return this.bytesOf.get(key) ?? 0;
  }

  add(key: string, bytes: number): void {
    this.total += bytes;
    const sum = this.of(key) + bytes;
    if (sum > 0) this.bytesOf.set(key, sum);
    else this.bytesOf.delete(key);
  }
}

const keyOf = ({ user, actor }: StudioCaller) => `${user.uuid} ${memberUuid(actor) ?? ''}`;

const tooMuch = (whom: string) =>
  new RateLimited(`Read or cancel the large responses that are being sent to ${whom} first.`, 1);
