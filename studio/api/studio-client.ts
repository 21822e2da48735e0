import type { z } from 'zod';
import { CSRF_HEADER } from '../../protocol/members.ts';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { apiErrorOf, StudioApiError } from './studio-api-error.ts';
import { texts } from './texts.ts';

type Api = typeof studioApi;
export type OperationName = keyof Api;

type ResponsesOf<Name extends OperationName> = Api[Name]['responses'][keyof Api[Name]['responses']];

/** The JSON body of a successful response; null: no body. */
export type ResponseOf<Name extends OperationName> =
  ResponsesOf<Name> extends { readonly schema: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : null;

/** The JSON body of a request; undefined: no body. */
export type RequestOf<Name extends OperationName> = Api[Name] extends {
  readonly body: infer Schema extends z.ZodType;
}
  ? z.input<Schema>
  : undefined;

export interface CallInput<Name extends OperationName> {
  /** Values for `{names}` in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: RequestOf<Name>;
  /** Idempotency key: the service performs requests with the same key once. */
  readonly key?: string;
  /** Lets the request outlive the page; browsers allow that for small bodies only. */
  readonly keepalive?: boolean;
  readonly signal?: AbortSignal;
}

/** The environment functions that the client uses. */
export interface ClientEnvironment {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly createIdempotencyKey: () => string;
  /** Resolves after `ms`; rejects when the signal aborts. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly monotonicMs: () => number;
  readonly random: () => number;
}

/** Writes without a final response are retried for this long. */
const WRITE_RETRY_MS = 15_000;
const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 2_000;
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Typed client of the studio API. Writes carry an Idempotency-Key and are retried until their
 * outcome is known (SPEC R), so that a lost response repeats nothing.
 */
export class StudioClient {
  readonly #environment: ClientEnvironment;
  #csrf: string | null = null;
  /** Called when the session has ended. */
  onSignedOut: () => void = () => {};
  /** Called when another tab has replaced the session. */
  onSessionReplaced: () => void = () => {};

  constructor(environment: ClientEnvironment) {
    this.#environment = environment;
  }

  /** The CSRF token of the session; null: signed out. */
  set csrf(csrf: string | null) {
    this.#csrf = csrf;
  }

  /** Calls an operation. @throws StudioApiError for an error response, or when none arrives */
  async call<Name extends OperationName>(
    name: Name,
    input: CallInput<Name> = {},
  ): Promise<ResponseOf<Name>> {
    const operation: Operation = studioApi[name];
    const isWrite = operation.method !== 'GET';
    const url = urlOf(operation.path, input.params ?? {}, input.query ?? {});
    const init = {
      method: operation.method,
      headers: this.#headersOf(isWrite, input),
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
      ...(input.keepalive && { keepalive: true }),
    };
    const retryMs = isWrite ? WRITE_RETRY_MS : 0;
    const response = await this.#sendWithRetries(url, init, retryMs, input.signal);
    if (response.status === 204) return null as ResponseOf<Name>;
    if (response.ok) return response.json().catch(() => throwUnreachable(input.signal));
    const error = await apiErrorOf(response);
    if (error.status !== 401 || this.#csrf === null) throw error;
    const csrf = name === 'readSession' ? null : await this.#readCsrf();
    if (csrf === this.#csrf) throw error;
    if (csrf === null) {
      this.#csrf = null;
      this.onSignedOut();
      throw error;
    }
    this.onSessionReplaced();
    throw new StudioApiError(401, texts.sessionReplaced);
  }

  #headersOf(isWrite: boolean, { body, key }: CallInput<OperationName>): Record<string, string> {
    return {
      Accept: 'application/json',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(isWrite && { 'Idempotency-Key': key ?? this.#environment.createIdempotencyKey() }),
      ...(isWrite && this.#csrf !== null && { [CSRF_HEADER]: this.#csrf }),
    };
  }

  /**
   * Sends until the response is final (a status below 500). After `retryMs` returns any response.
   * @throws StudioApiError when no response arrived
   */
  async #sendWithRetries(url: string, init: RequestInit, retryMs: number, signal?: AbortSignal) {
    const deadlineMs = this.#environment.monotonicMs() + retryMs;
    for (let backoffMs = BACKOFF_MIN_MS; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS)) {
      const outcome = await this.#sendOnce(url, init, signal);
      const isFinal = outcome instanceof Response && outcome.status < 500;
      const remainingMs = deadlineMs - this.#environment.monotonicMs();
      if (isFinal || remainingMs <= 0) {
        if (outcome instanceof Response) return outcome;
        throw outcome;
      }
      const jitteredMs = backoffMs * (0.5 + this.#environment.random() / 2);
      await this.#environment.wait(Math.min(jitteredMs, remainingMs), signal);
    }
  }

  /** @returns the response, or an error when none arrived */
  async #sendOnce(url: string, init: RequestInit, signal?: AbortSignal) {
    const signals = [AbortSignal.timeout(REQUEST_TIMEOUT_MS), ...(signal ? [signal] : [])];
    try {
      const response = await this.#environment.fetch(url, {
        ...init,
        signal: AbortSignal.any(signals),
      });
      return isForeign(response) ? new StudioApiError(null, texts.foreign) : response;
    } catch (error) {
      signal?.throwIfAborted();
      const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
      const detail = isTimeout ? texts.timeout : texts.unreachable;
      return new StudioApiError(null, detail);
    }
  }

  /**
   * Reads the session: a 401 can also mean a wrong password, a missing permission, or another session.
   * @returns its CSRF token; null: signed out
   */
  async #readCsrf(): Promise<string | null> {
    const response = await this.#sendOnce('/studio/v1/session', { method: 'GET' });
    if (!(response instanceof Response)) return this.#csrf;
    if (response.status === 401) return null;
    const session = await response.json().catch(() => null);
    return typeof session?.csrf === 'string' ? session.csrf : this.#csrf;
  }
}

function urlOf(
  path: string,
  params: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string | number>>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new TypeError(`${path} needs ${name}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  ).toString();
  return search ? `${filled}?${search}` : filled;
}

/** Whether a success is of another program: the sign-in page of a network, or a proxy. */
function isForeign(response: Response): boolean {
  const type = response.headers.get('content-type') ?? '';
  return response.ok && response.status !== 204 && !/\bjson\b/.test(type);
}

/** The connection broke within a response. @throws StudioApiError, or the reason of an abort */
function throwUnreachable(signal?: AbortSignal): never {
  signal?.throwIfAborted();
  throw new StudioApiError(null, texts.unreachable);
}
