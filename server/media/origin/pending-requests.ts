import { networkOf } from '../../http/address.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { PlayableStream, Presentation } from '../segment.ts';
import { ReleaseQueue } from './release-queue.ts';

/** Most requests that wait, on one node. */
export const PENDING_LIMITS = {
  /**
   * Of all clients: a request takes about 3 KB with the runtime's part, so all take 60 MB. A further one
   * replaces the oldest of the network with the most, unless that is its own.
   */
  total: 20_000,
  /** Of one address: those of over 1,600 players behind it, each for a playlist, a part and sound. */
  client: 5_000,
};

type Condition = (presentation: Presentation) => boolean;

/** The client of a request. */
export interface PendingClient {
  /** Rate limit key. */
  readonly key: string;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** The shared wait of all requests for the same resource. */
interface SharedWait {
  /** Whether the resource became available in time. */
  readonly result: Promise<boolean>;
  /** Ends the wait without a result. */
  readonly cancel: () => void;
}

/** Requests that block until their stream has progressed (SPEC M-30). */
export class PendingRequests {
  count = 0;
  private isDraining = false;
  private readonly releases = new ReleaseQueue();
  private readonly waits = new Map<PlayableStream, Map<string, SharedWait>>();
  private readonly countOf = new Map<string, number>();
  /** Ends single requests, in the order of their arrival, by the network of the client. */
  private readonly cancels = new Map<string, Set<() => void>>();

  constructor(private readonly limits: Readonly<typeof PENDING_LIMITS> = PENDING_LIMITS) {}

  /**
   * Waits until a presentation is ready. Requests for the same resource share one wait.
   * @param key identifies the resource within the stream
   * @throws Unavailable after the timeout, while draining, with too many pending requests, or when the
   *   client has disconnected
   */
  async waitUntil(
    stream: PlayableStream,
    key: string,
    isReady: Condition,
    timeoutMs: number,
    client: PendingClient,
  ): Promise<void> {
    if (this.isDraining) throw new Unavailable('The service is stopping.');
    const clientCount = this.countOf.get(client.key) ?? 0;
    const network = networkOf(client.key) ?? client.key;
    const hasRoom = () => this.count < this.limits.total || this.replaceOne(network);
    if (clientCount >= this.limits.client || !hasRoom()) {
      throw new Unavailable('Too many requests are pending.');
    }
    this.count++;
    this.countOf.set(client.key, clientCount + 1);
    try {
      const shared = this.waits.get(stream)?.get(key);
      const { result } = shared ?? this.startWait(stream, key, isReady, timeoutMs);
      if (!(await this.unlessCancelled(result, client.signal, network))) {
        throw new Unavailable('The requested segment is not available yet.');
      }
    } finally {
      this.remove(client.key);
    }
  }

  /** Ends a request of the network with the most. @returns whether there was one to replace */
  private replaceOne(network: string): boolean {
    let largest: Set<() => void> = new Set();
    for (const cancels of this.cancels.values()) if (cancels.size > largest.size) largest = cancels;
    if (largest.size <= (this.cancels.get(network)?.size ?? 0) + 1) return false;
    [...largest][0]?.();
    return true;
  }

  /** The result, or false as soon as the signal is aborted or another request replaces this one. */
  private async unlessCancelled(
    result: Promise<boolean>,
    signal: AbortSignal,
    network: string,
  ): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const cancels = this.cancels.get(network) ?? new Set();
    this.cancels.set(network, cancels);
    const cancel = () => {
      cancels.delete(cancel);
      if (cancels.size === 0 && this.cancels.get(network) === cancels) this.cancels.delete(network);
      resolve(false);
    };
    cancels.add(cancel);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel);
    const release = () => void result.then(resolve, reject);
    const addRelease = () => {
      // Requests that have ended use up no turn of those that wait.
      if (cancels.has(cancel)) this.releases.add(release);
    };
    result.then(addRelease, addRelease);
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', cancel);
      cancel();
    }
  }

  private remove(client: string): void {
    this.count--;
    const left = (this.countOf.get(client) ?? 0) - 1;
    if (left > 0) this.countOf.set(client, left);
    else this.countOf.delete(client);
  }

  /** Ends all waits and refuses new ones. */
  drain(): void {
    this.isDraining = true;
    for (const waits of this.waits.values()) for (const { cancel } of waits.values()) cancel();
  }

  private startWait(
    stream: PlayableStream,
    key: string,
    isReady: Condition,
    timeoutMs: number,
  ): SharedWait {
    const waits = this.waits.get(stream) ?? new Map<string, SharedWait>();
    this.waits.set(stream, waits);
    const cancelled = Promise.withResolvers<void>();
    const timer = runtime.setTimeout(cancelled.resolve, timeoutMs);
    const result = waitForPresentation(stream, isReady, cancelled.promise).finally(() => {
      runtime.clearTimer(timer);
      waits.delete(key);
      if (waits.size === 0) this.waits.delete(stream);
    });
    const wait = { result, cancel: cancelled.resolve };
    waits.set(key, wait);
    return wait;
  }
}

async function waitForPresentation(
  stream: PlayableStream,
  isReady: Condition,
  cancelled: Promise<void>,
): Promise<boolean> {
  let isCancelled = false;
  const cancellation = cancelled.then(() => {
    isCancelled = true;
  });
  for (;;) {
    const presentation = stream.presentation();
    if (isReady(presentation)) return true;
    if (isCancelled) return false;
    const changed = Promise.withResolvers<void>();
    const forget = stream.onChange(presentation.version, changed.resolve);
    await Promise.race([changed.promise, cancellation]);
    // A stream without a source may not change for days.
    forget();
  }
}
