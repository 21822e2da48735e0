import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { PlayableStream, Presentation } from '../segment.ts';

// A pending request takes about 3 KB with the runtime's part, so all take 60 MB at most.
const PENDING_MAX = 20_000;

type Condition = (presentation: Presentation) => boolean;

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
  private readonly waits = new Map<PlayableStream, Map<string, SharedWait>>();

  constructor(private readonly max = PENDING_MAX) {}

  /**
   * Waits until a presentation is ready. Requests for the same resource share one wait.
   * @param key identifies the resource within the stream
   * @throws Unavailable after the timeout, while draining, or with too many pending requests
   */
  async waitUntil(
    stream: PlayableStream,
    key: string,
    isReady: Condition,
    timeoutMs: number,
  ): Promise<void> {
    if (this.isDraining) throw new Unavailable('The service is stopping.');
    if (this.count >= this.max) throw new Unavailable('Too many requests are pending.');
    this.count++;
    try {
      const shared = this.waits.get(stream)?.get(key);
      const { result } = shared ?? this.startWait(stream, key, isReady, timeoutMs);
      if (!(await result)) throw new Unavailable('The requested segment is not available yet.');
    } finally {
      this.count--;
    }
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
    await Promise.race([stream.waitForChange(presentation.version), cancellation]);
  }
}
