import type { Environment } from './environment.ts';
import { asTrouble, FourbeatError, troubleOf } from './errors.ts';
import type { Urls } from './join-options.ts';
import type { TokenKeeper } from './token.ts';
import type { ChatKind, EventsInterval, Quiz, SeenStream } from './types.ts';

/** What a viewer may post: a line, or hearts. */
export type ChatPost =
  | { readonly kind: ChatKind; readonly text: string; readonly name?: string | undefined }
  | { readonly kind: 'heart'; readonly count: number };

type Detail = SeenStream & { readonly quiz_interval?: number | null };
type Tokens = Pick<TokenKeeper, 'get' | 'refuse'>;

interface Call {
  /** GET by default. */
  readonly method?: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Ends it. */
  readonly signal?: AbortSignal;
}

// What is held (SPEC F-4, F-9) is answered in under 2 s.
const LIMIT_MS = 5_000;
// A token that is refused so soon after an outage is not the only one: with it all went.
const OUTAGE_MS = 30_000;

/**
 * Each thing that a viewer asks of the service. All throw Trouble: `away` too when there is no
 * answer in 5 s, and `denied` when a new token is refused as well.
 */
export class Calls {
  readonly #env: Environment;
  readonly #urls: Urls;
  readonly #streamId: string;
  readonly #token: Tokens;
  /** When the service was away last, on the monotonic clock. */
  #awayMs = -Infinity;
  /** The stream as a part of a path. */
  readonly #path: string;

  constructor(env: Environment, urls: Urls, streamId: string, token: Tokens) {
    this.#env = env;
    this.#urls = urls;
    this.#streamId = streamId;
    this.#token = token;
    this.#path = encodeURIComponent(streamId);
  }

  /** @returns service time, whole Unix ms */
  async time(): Promise<number> {
    const { now } = await this.#call(`${this.#urls.base}/api/v1/time`, {}, json<{ now: number }>);
    if (!(now > 0)) throw new FourbeatError('away', 'it is not the service');
    return now;
  }

  /** @param asViewer who is told of the quiz that is open as well, and how the chat goes */
  stream(asViewer?: boolean): Promise<Detail> {
    const url = `${this.#urls.base}/api/v1/streams/${this.#path}/`;
    return asViewer ? this.#asViewer(url, {}, json<Detail>) : this.#call(url, {}, json<Detail>);
  }

  async newToken(viewerId: string): Promise<string> {
    const body = { stream_id: this.#streamId, unique_user_identifier: viewerId };
    const url = `${this.#urls.auth}/api/v1/token`;
    return (await this.#call(url, { method: 'POST', body }, json<{ token: string }>)).token;
  }

  /**
   * Counts this viewer for a second. It is not sent again with a new token, which could be the second
   * in a second.
   * @param onSend called when it goes out: its token may have taken a while
   */
  async beat(onSend?: () => void): Promise<void> {
    const url = `${this.#urls.viewCounts}/api/v1/view-counts/${this.#path}`;
    const token = await this.#token.get();
    onSend?.();
    try {
      await this.#callWith(token, url, { method: 'POST' }, unread);
    } catch (trouble) {
      // The next one should not have to wait for its token.
      if (this.#isRefused(trouble, token)) this.#token.get().catch(() => {});
      throw trouble;
    }
  }

  answer({ id, closeInterval }: Quiz, choice: string): Promise<void> {
    const body = { streamId: this.#streamId, choice, closeInterval };
    return this.#post(`${this.#urls.polls}/api/v1/quizzes/${encodeURIComponent(id)}/answer`, body);
  }

  /**
   * Who is not a winner is `denied`, as who has no good token is.
   * @param isSure then it is the token; else that stays, as all who have not won would need another
   */
  async recordWinner(isSure: boolean): Promise<void> {
    const url = `${this.#urls.polls}/api/v1/quizzes/${this.#path}/record-winner`;
    if (isSure) return this.#post(url);
    return this.#callWith(await this.#token.get(), url, { method: 'POST' }, unread);
  }

  sendChat(post: ChatPost): Promise<void> {
    return this.#post(`${this.#urls.events}/api/v1/events-streams/${this.#path}/chats`, post);
  }

  /** What happened in an interval; one that is not sealed yet is waited for. */
  interval(interval: number): Promise<EventsInterval> {
    return this.#asViewer(this.#feedUrl(interval), {}, json<EventsInterval>);
  }

  /**
   * All intervals from this one on, as they are sealed.
   * @param signal ends it; the time limit is for its headers alone
   */
  eventStream(interval: number, signal: AbortSignal): Promise<Response> {
    const headers = { Accept: 'text/event-stream' };
    return this.#asViewer(this.#feedUrl(interval), { headers, signal }, async (answer) => answer);
  }

  #feedUrl(interval: number): string {
    return `${this.#urls.events}/api/v1/events-streams/${this.#path}?interval=${interval}`;
  }

  #post(url: string, body?: unknown): Promise<void> {
    return this.#asViewer(url, { method: 'POST', body }, unread);
  }

  async #asViewer<T>(url: string, call: Call, read: (answer: Response) => Promise<T>): Promise<T> {
    const token = await this.#token.get();
    try {
      return await this.#callWith(token, url, call, read);
    } catch (trouble) {
      if (!this.#isRefused(trouble, token)) throw trouble;
      return this.#callWith(await this.#token.get(), url, call, read);
    }
  }

  #isRefused(trouble: unknown, token: string): boolean {
    const isRefused = (trouble as FourbeatError).kind === 'denied';
    const awayMs = this.#env.monotonicMs() - this.#awayMs;
    if (isRefused) this.#token.refuse(token, awayMs < OUTAGE_MS);
    return isRefused;
  }

  #callWith<T>(token: string, url: string, call: Call, read: (answer: Response) => Promise<T>) {
    const headers = { ...call.headers, Authorization: `Bearer ${token}` };
    return this.#call(url, { ...call, headers }, read);
  }

  async #call<T>(
    url: string,
    { method, headers, body, signal }: Call,
    read: (answer: Response) => Promise<T>,
  ): Promise<T> {
    const ending = new AbortController();
    const end = () => ending.abort();
    const callOff = this.#env.after(LIMIT_MS, end);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    try {
      const answer = await this.#env.fetch(url, {
        method,
        headers: { ...headers, ...(body ? { 'Content-Type': 'application/json' } : {}) },
        body: body ? JSON.stringify(body) : null,
        signal: ending.signal,
      } as RequestInit);
      if (!answer.ok) throw await troubleOf(answer);
      return await read(answer);
    } catch (thrown) {
      const trouble = asTrouble(thrown);
      if (trouble.kind === 'away') this.#awayMs = this.#env.monotonicMs();
      throw trouble;
    } finally {
      callOff();
    }
  }
}

/** @throws Trouble `away` when it is of something on the way, which may say nothing in JSON */
async function json<T>(answer: Response): Promise<T> {
  const data = (await answer.json()) as T;
  if (!data) throw new FourbeatError('away', 'it is not the service');
  return data;
}

/**
 * A body that nobody reads would keep its connection.
 * @throws Trouble `away` when it is a page of something on the way: the service says 204
 */
async function unread(answer: Response): Promise<void> {
  await answer.body?.cancel().catch(() => {});
  if (answer.status !== 204) throw new FourbeatError('away', 'it is not the service');
}
