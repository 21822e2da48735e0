import type { z } from 'zod';
import { CSRF_HEADER } from '../../protocol/members.ts';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { KeptKeys } from './kept-keys.ts';
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
  /** Lets the request outlive the page; browsers allow that for small bodies only. */
  readonly keepalive?: boolean;
  readonly signal?: AbortSignal;
}

/** The environment functions that the client uses. */
export interface ClientEnvironment {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly createIdempotencyKey: () => string;
  /** Calls after `ms`. @returns cancels */
  readonly after: (ms: number, callback: () => void) => () => void;
  /** Resolves after `ms`; rejects when the signal aborts. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly monotonicMs: () => number;
  readonly random: () => number;
}

/** A response whose whole body has arrived. */
interface Reply {
  readonly status: number;
  /** Whether the status is from 200 to 299. */
  readonly isOk: boolean;
  /** The JSON of the body; null: no body, or an error without JSON. */
  readonly body: unknown;
}

interface WriteInit extends RequestInit {
  readonly headers: Readonly<Record<string, string>>;
}

/** Writes without a final response are retried for this long. */
const WRITE_RETRY_MS = 15_000;
const BACKOFF_MIN_MS = 250;
const BACKOFF_MAX_MS = 2_000;
/** The head of a response, and a short body, must arrive within this time. */
const RESPONSE_MAX_MS = 5_000;
/** A body has more time, as for 200 kbit/s: the list of 10,000 shows has 9 MB. */
const BODY_BYTES_PER_MS = 25;
/** Stands for the size of a body that the head does not announce. */
const UNKNOWN_BODY_BYTES = 1_000_000;

/**
 * Typed client of the studio API. Writes carry an Idempotency-Key and are retried until their
 * outcome is known (SPEC R), so that a lost response repeats nothing.
 */
export class StudioClient {
  readonly #environment: ClientEnvironment;
  #csrf: string | null = null;
  readonly #keptKeys = new KeptKeys();
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
    const body = input.body === undefined ? undefined : JSON.stringify(input.body);
    const init = {
      method: operation.method,
      headers: {
        Accept: 'application/json',
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
      ...(input.keepalive && { keepalive: true }),
    };
    const reply = isWrite
      ? await this.#write(name, url, init, input.signal)
      : await this.#sendWithRetries(url, init, 0, input.signal);
    if (reply.isOk) return reply.body as ResponseOf<Name>;
    const error = apiErrorOf(reply.status, reply.body);
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

  /** Sends a write until its outcome is known. */
  async #write(
    name: OperationName,
    url: string,
    init: WriteInit,
    signal?: AbortSignal,
  ): Promise<Reply> {
    const { monotonicMs, createIdempotencyKey } = this.#environment;
    const call = `${name} ${url} ${init.body ?? ''}`;
    const key = this.#keptKeys.take(call, monotonicMs()) ?? createIdempotencyKey();
    const headers = {
      ...init.headers,
      'Idempotency-Key': key,
      ...(this.#csrf !== null && { [CSRF_HEADER]: this.#csrf }),
    };
    let status: number | null = null;
    try {
      const reply = await this.#sendWithRetries(url, { ...init, headers }, WRITE_RETRY_MS, signal);
      status = reply.status;
      return reply;
    } finally {
      this.#keptKeys.keep(name, call, key, status, monotonicMs());
    }
  }

  /**
   * Sends until the response is final (a status below 500). After `retryMs` returns any response.
   * @throws StudioApiError when no whole response arrived
   */
  async #sendWithRetries(url: string, init: RequestInit, retryMs: number, signal?: AbortSignal) {
    const deadlineMs = this.#environment.monotonicMs() + retryMs;
    for (let backoffMs = BACKOFF_MIN_MS; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MAX_MS)) {
      const outcome = await this.#sendOnce(url, init, signal);
      const hasResponse = !(outcome instanceof StudioApiError);
      const isFinal = hasResponse && outcome.status < 500;
      const remainingMs = deadlineMs - this.#environment.monotonicMs();
      if (isFinal || remainingMs <= 0) {
        if (hasResponse) return outcome;
        throw outcome;
      }
      const jitteredMs = backoffMs * (0.5 + this.#environment.random() / 2);
      await this.#environment.wait(Math.min(jitteredMs, remainingMs), signal);
    }
  }

  /** @returns the response, or an error when none arrived as a whole */
  async #sendOnce(
    url: string,
    init: RequestInit,
    signal?: AbortSignal,
  ): Promise<Reply | StudioApiError> {
    const timeout = new AbortController();
    const limit = (ms: number) => this.#environment.after(ms, () => timeout.abort());
    let cancelLimit = limit(RESPONSE_MAX_MS);
    try {
      const response = await this.#environment.fetch(url, {
        ...init,
        signal: AbortSignal.any([timeout.signal, ...(signal ? [signal] : [])]),
      });
      if (isForeign(response)) return new StudioApiError(null, texts.foreign);
      cancelLimit();
      cancelLimit = limit(bodyMaxMs(response));
      // As a whole: Chromium reports a response whose body a page reads in pieces as aborted.
      return replyOf(response, await response.text());
    } catch {
      signal?.throwIfAborted();
      return new StudioApiError(null, timeout.signal.aborted ? texts.timeout : texts.unreachable);
    } finally {
      cancelLimit();
    }
  }

  /**
   * Reads the session: a 401 can also mean a wrong password, a missing permission, or another session.
   * @returns its CSRF token; null: signed out
   */
  async #readCsrf(): Promise<string | null> {
    const reply = await this.#sendOnce('/studio/v1/session', { method: 'GET' });
    if (reply instanceof StudioApiError) return this.#csrf;
    if (reply.status === 401) return null;
    const { csrf } = (reply.body ?? {}) as { csrf?: unknown };
    return typeof csrf === 'string' ? csrf : this.#csrf;
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

function bodyMaxMs({ headers }: Response): number {
  const bytes = Number(headers.get('content-length') ?? UNKNOWN_BODY_BYTES);
  return RESPONSE_MAX_MS + bytes / BODY_BYTES_PER_MS;
}

/** @throws SyntaxError for a success without its body, or with a part of it */
function replyOf({ status, ok: isOk }: Response, text: string): Reply {
  try {
    return { status, isOk, body: status === 204 ? null : JSON.parse(text) };
  } catch (error) {
    if (isOk) throw error;
    return { status, isOk, body: null };
  }
}

/**
 * Whether a response is of another program: the sign-in page of a network, or a proxy. A status from 500 on decides
 * nothing anyway, and its number says more to the user.
 */
function isForeign({ status, headers }: Response): boolean {
  return status < 500 && status !== 204 && !/\bjson\b/.test(headers.get('content-type') ?? '');
}
