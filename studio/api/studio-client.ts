import type { z } from 'zod';
import { CSRF_HEADER } from '../../protocol/members.ts';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { problemOf, StudioProblem } from './studio-problem.ts';

type Api = typeof studioApi;
export type OperationName = keyof Api;

type AnswersOf<Name extends OperationName> = Api[Name]['answers'][keyof Api[Name]['answers']];

/** What an operation answers. */
export type ReplyOf<Name extends OperationName> =
  AnswersOf<Name> extends { readonly schema: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : null;

/** What an operation takes as its body. */
export type BodyOf<Name extends OperationName> = Api[Name] extends {
  readonly body: infer Schema extends z.ZodType;
}
  ? z.input<Schema>
  : undefined;

export interface CallInput<Name extends OperationName> {
  /** Values for `{names}` in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: BodyOf<Name>;
  /** Names what is being done: with the same one it is done once, however often it is sent. */
  readonly key?: string;
  readonly signal?: AbortSignal;
}

/** What the client takes of a browser. */
export interface ClientBrowser {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly newKey: () => string;
  /** Fulfilled so much later; rejected when the signal says so before. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly monotonicMs: () => number;
  readonly random: () => number;
}

/** A write whose answer did not come is sent again for so long; the service does it once. */
const WRITE_AGAIN_MS = 15_000;
const PAUSE_LEAST_MS = 250;
const PAUSE_MOST_MS = 2_000;
/** What has not answered by then is tried again. */
const LATE_MS = 5_000;

/**
 * Calls the studio API by the names that its description has. A write carries an Idempotency-Key and
 * is sent again until its outcome is known (SPEC R), so that nothing is done twice by a bad line.
 */
export class StudioClient {
  readonly #browser: ClientBrowser;
  #csrf: string | null = null;
  /** Told when who was signed in is not any more. */
  onSignedOut: () => void = () => {};

  constructor(browser: ClientBrowser) {
    this.#browser = browser;
  }

  /** The word that shows that writes come from this page; null: nobody is signed in. */
  set csrf(csrf: string | null) {
    this.#csrf = csrf;
  }

  /** @throws StudioProblem */
  async call<Name extends OperationName>(
    name: Name,
    input: CallInput<Name> = {},
  ): Promise<ReplyOf<Name>> {
    const operation: Operation = studioApi[name];
    const isWrite = operation.method !== 'GET';
    const url = urlOf(operation.path, input.params ?? {}, input.query ?? {});
    const init = {
      method: operation.method,
      headers: this.#headersOf(isWrite, input),
      ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
    };
    const response = await this.#sent(url, init, isWrite ? WRITE_AGAIN_MS : 0, input.signal);
    if (response.ok) return response.status === 204 ? (null as ReplyOf<Name>) : response.json();
    const problem = await problemOf(response);
    if (problem.status === 401 && (await this.#isSignedOut(name))) {
      this.#csrf = null;
      this.onSignedOut();
    }
    throw problem;
  }

  #headersOf(isWrite: boolean, { body, key }: CallInput<OperationName>): Record<string, string> {
    return {
      Accept: 'application/json',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(isWrite && { 'Idempotency-Key': key ?? this.#browser.newKey() }),
      ...(isWrite && this.#csrf !== null && { [CSRF_HEADER]: this.#csrf }),
    };
  }

  /** Any answer but those that pass; after `againMs` those, too. @throws StudioProblem no answer */
  async #sent(url: string, init: RequestInit, againMs: number, signal?: AbortSignal) {
    const untilMs = this.#browser.monotonicMs() + againMs;
    for (let pauseMs = PAUSE_LEAST_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MOST_MS)) {
      const answer = await this.#once(url, init, signal);
      const isKnown = answer instanceof Response && answer.status < 500;
      const restMs = untilMs - this.#browser.monotonicMs();
      if (isKnown || restMs <= 0) {
        if (answer instanceof Response) return answer;
        throw answer;
      }
      const jittered = pauseMs * (0.5 + this.#browser.random() / 2);
      await this.#browser.wait(Math.min(jittered, restMs), signal);
    }
  }

  async #once(
    url: string,
    init: RequestInit,
    signal?: AbortSignal,
  ): Promise<Response | StudioProblem> {
    const signals = [AbortSignal.timeout(LATE_MS), ...(signal ? [signal] : [])];
    try {
      return await this.#browser.fetch(url, { ...init, signal: AbortSignal.any(signals) });
    } catch (error) {
      signal?.throwIfAborted();
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      return new StudioProblem(
        null,
        isLate ? 'The service does not answer.' : 'The service cannot be reached.',
      );
    }
  }

  /** 401 is also for a wrong password, and for what a role may not do: then there still is a session. */
  async #isSignedOut(name: OperationName): Promise<boolean> {
    if (this.#csrf === null) return false;
    if (name === 'readSession') return true;
    const session = await this.#once('/studio/v1/session', { method: 'GET' });
    return session instanceof Response && session.status === 401;
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
