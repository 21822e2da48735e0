import type { Environment } from './environment.ts';
import {
  errorFromResponse,
  type FourbeatError,
  requireFourbeat,
  toFourbeatError,
} from './errors.ts';
import type { Urls } from './join-options.ts';
import type { TokenSource } from './token-source.ts';
import type { ChatKind, EventsInterval, Quiz, ViewerStream } from './types.ts';

/** The body of a chat request: a message, or hearts. */
export type ChatPost =
  | { readonly kind: ChatKind; readonly text: string; readonly name?: string | undefined }
  | { readonly kind: 'heart'; readonly count: number };

type StreamDetail = ViewerStream & { readonly quiz_interval?: number | null };
type Tokens = Pick<TokenSource, 'get' | 'reject'>;
type Reader<T> = (response: Response) => Promise<T>;

interface RequestOptions {
  /** Default: GET. */
  readonly method?: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

// Long polls (SPEC F-4, F-9) are answered in under 2 s.
const TIMEOUT_MS = 5_000;
// Tokens rejected this soon after an outage: those of all viewers probably are, so spread renewals.
const RECENT_OUTAGE_MS = 30_000;

/**
 * The viewer API of the service. All methods throw FourbeatError: `unavailable` also when there is no
 * response in 5 s, `denied` when a new token is rejected as well.
 */
export class ApiClient {
  readonly #env: Environment;
  readonly #urls: Urls;
  readonly #streamId: string;
  readonly #tokens: Tokens;
  /** When the service was last unavailable, on the monotonic clock. */
  #unavailableAtMs = -Infinity;
  /** The stream id, encoded for a path. */
  readonly #path: string;

  constructor(env: Environment, urls: Urls, streamId: string, tokens: Tokens) {
    this.#env = env;
    this.#urls = urls;
    this.#streamId = streamId;
    this.#tokens = tokens;
    this.#path = encodeURIComponent(streamId);
  }

  /** @returns service time, whole Unix ms */
  async time(): Promise<number> {
    const url = `${this.#urls.base}/api/v1/time`;
    const { now } = await this.#call(url, {}, readJson<{ now: number }>);
    requireFourbeat(now > 0);
    return now;
  }

  /** @param asViewer sends the token, to also receive the open quiz and the state of the chat */
  stream(asViewer?: boolean): Promise<StreamDetail> {
    const url = `${this.#urls.base}/api/v1/streams/${this.#path}/`;
    return asViewer
      ? this.#callAsViewer(url, {}, readJson<StreamDetail>)
      : this.#call(url, {}, readJson<StreamDetail>);
  }

  async newToken(viewerId: string): Promise<string> {
    const body = { stream_id: this.#streamId, unique_user_identifier: viewerId };
    const url = `${this.#urls.auth}/api/v1/token`;
    return (await this.#call(url, { method: 'POST', body }, readJson<{ token: string }>)).token;
  }

  /**
   * Counts this viewer for a second. A heartbeat whose token is rejected is not resent: that could
   * make two heartbeats in a second.
   * @param onSend called when the request goes out: waiting for a token may take a while
   */
  async sendHeartbeat(onSend?: () => void): Promise<void> {
    const url = `${this.#urls.viewCounts}/api/v1/view-counts/${this.#path}`;
    const token = await this.#tokens.get();
    onSend?.();
    try {
      await this.#callWithToken(token, url, { method: 'POST' }, expectNoContent);
    } catch (error) {
      // Renew the token now, so that the next heartbeat need not wait for it.
      if (this.#checkDenied(error, token)) this.#tokens.get().catch(() => {});
      throw error;
    }
  }

  answer({ id, closeInterval }: Quiz, choice: string): Promise<void> {
    const body = { streamId: this.#streamId, choice, closeInterval };
    return this.#post(`${this.#urls.polls}/api/v1/quizzes/${encodeURIComponent(id)}/answer`, body);
  }

  /**
   * Reports this viewer as a winner.
   * @param isSure whether the viewer is known to have won. If not, 401 means that it has not won, and
   *   the token is kept
   * @throws FourbeatError `denied` when the viewer has not won, or has no valid token
   */
  async recordWinner(isSure: boolean): Promise<void> {
    const url = `${this.#urls.polls}/api/v1/quizzes/${this.#path}/record-winner`;
    if (isSure) return this.#post(url);
    return this.#callWithToken(await this.#tokens.get(), url, { method: 'POST' }, expectNoContent);
  }

  sendChat(post: ChatPost): Promise<void> {
    return this.#post(`${this.#urls.events}/api/v1/events-streams/${this.#path}/chats`, post);
  }

  /** Reads an interval; the service responds when the interval is sealed. */
  interval(interval: number): Promise<EventsInterval> {
    return this.#callAsViewer(this.#feedUrl(interval), {}, readJson<EventsInterval>);
  }

  /**
   * Opens an event stream of all intervals from this one on.
   * @param signal closes it; the timeout applies to the response headers only
   */
  eventStream(interval: number, signal: AbortSignal): Promise<Response> {
    const options = { headers: { Accept: 'text/event-stream' }, signal };
    return this.#callAsViewer(this.#feedUrl(interval), options, async (response) => response);
  }

  #feedUrl(interval: number): string {
    return `${this.#urls.events}/api/v1/events-streams/${this.#path}?interval=${interval}`;
  }

  #post(url: string, body?: unknown): Promise<void> {
    return this.#callAsViewer(url, { method: 'POST', body }, expectNoContent);
  }

  async #callAsViewer<T>(url: string, options: RequestOptions, read: Reader<T>): Promise<T> {
    const token = await this.#tokens.get();
    try {
      return await this.#callWithToken(token, url, options, read);
    } catch (error) {
      if (!this.#checkDenied(error, token)) throw error;
      return this.#callWithToken(await this.#tokens.get(), url, options, read);
    }
  }

  #checkDenied(error: unknown, token: string): boolean {
    const isRefused = (error as FourbeatError).kind === 'denied';
    const outageAgeMs = this.#env.monotonicMs() - this.#unavailableAtMs;
    if (isRefused) this.#tokens.reject(token, outageAgeMs < RECENT_OUTAGE_MS);
    return isRefused;
  }

  #callWithToken<T>(token: string, url: string, options: RequestOptions, read: Reader<T>) {
    const headers = { ...options.headers, Authorization: `Bearer ${token}` };
    return this.#call(url, { ...options, headers }, read);
  }

  async #call<T>(
    url: string,
    { method, headers, body, signal }: RequestOptions,
    read: Reader<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    const cancel = this.#env.after(TIMEOUT_MS, abort);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
    try {
      const response = await this.#env.fetch(url, {
        method,
        headers: { ...headers, ...((body && { 'Content-Type': 'application/json' }) as object) },
        body: body ? JSON.stringify(body) : null,
        signal: controller.signal,
      } as RequestInit);
      if (!response.ok) throw await errorFromResponse(response);
      return await read(response);
    } catch (thrown) {
      const error = toFourbeatError(thrown);
      if (error.kind === 'unavailable') this.#unavailableAtMs = this.#env.monotonicMs();
      throw error;
    } finally {
      cancel();
    }
  }
}

/** @throws FourbeatError `unavailable` when the body is not JSON data, as from a proxy */
async function readJson<T>(response: Response): Promise<T> {
  const data = (await response.json()) as T;
  requireFourbeat(data);
  return data;
}

/**
 * Discards the body: an unread one would occupy its connection.
 * @throws FourbeatError `unavailable` when the status is not 204, as from a proxy
 */
async function expectNoContent(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
  requireFourbeat(response.status === 204);
}
