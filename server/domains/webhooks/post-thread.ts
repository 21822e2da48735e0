import type { AddressPolicy } from '../../platform/network-policy.ts';
import { runtime } from '../../platform/runtime.ts';
import { type Post, type PostResult, TIMEOUT_MS } from './post.ts';

/** Messages to the thread that sends. */
export type PostCommand =
  | { readonly kind: 'start'; readonly allowHttp: boolean; readonly allowPrivate: string }
  | {
      readonly kind: 'post';
      readonly id: number;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'abort'; readonly id: number };

/** The result of a `post`; an aborted one has none. */
export interface PostReply {
  readonly id: number;
  readonly result: PostResult;
}

/** A thread that does not answer for longer than an attempt takes is replaced. */
const ANSWER_MS = TIMEOUT_MS + 5_000;
const UNREAD_MS = 100;

/**
 * Sends webhooks in a thread of its own: receivers are programs of strangers, and a TLS handshake with 90
 * certificates took 90 ms of the main thread. The thread starts with the first delivery.
 */
export class PostThread {
  #worker: Worker | null = null;
  #lastId = 0;
  readonly #waiting = new Map<number, (result: PostResult) => void>();

  constructor(
    private readonly policy: AddressPolicy,
    private readonly onFailure: (reason: string) => void,
    private readonly answerMs = ANSWER_MS,
  ) {}

  readonly post: Post = async (url, headers, body, stop) => {
    stop.throwIfAborted();
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<PostResult>();
    this.#waiting.set(id, resolve);
    const abort = () => {
      this.#worker?.postMessage({ kind: 'abort', id } satisfies PostCommand);
      resolve({ status: null, error: 'timeout' });
    };
    stop.addEventListener('abort', abort, { once: true });
    let timer = runtime.setTimeout(() => {
      // After a freeze of the process replies may have arrived, unread.
      timer = runtime.setTimeout(() => {
        this.onFailure('it did not answer in time');
        this.#end('timeout');
      }, UNREAD_MS);
    }, this.answerMs);
    try {
      const command: PostCommand = { kind: 'post', id, url, headers, body };
      this.#started().postMessage(command);
      const result = await promise;
      stop.throwIfAborted();
      return result;
    } finally {
      this.#waiting.delete(id);
      stop.removeEventListener('abort', abort);
      runtime.clearTimer(timer);
    }
  };

  /** Ends the thread and its connections. */
  stop(): void {
    this.#end('connection');
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL('./post-worker.ts', import.meta.url).href);
    worker.onmessage = ({ data: { id, result } }: MessageEvent<PostReply>) => {
      this.#waiting.get(id)?.(result);
    };
    const fail = (reason: string) => {
      if (worker !== this.#worker) return;
      this.onFailure(reason);
      this.#end('connection');
    };
    worker.onerror = ({ message }) => fail(message);
    worker.addEventListener('close', () => fail('it ended'));
    const allowPrivate = this.policy.allowPrivate.map(([address, bits]) => `${address}/${bits}`);
    worker.postMessage({
      kind: 'start',
      allowHttp: this.policy.allowHttp,
      allowPrivate: allowPrivate.join(','),
    } satisfies PostCommand);
    this.#worker = worker;
    return worker;
  }

  /** Ends the thread; its open attempts fail. The next attempt starts another one. */
  #end(error: 'timeout' | 'connection'): void {
    this.#worker?.terminate();
    this.#worker = null;
    for (const resolve of this.#waiting.values()) resolve({ status: null, error });
  }
}
