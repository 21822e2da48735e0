import type { Viewer } from '../../auth/viewer-tokens/checked-viewers.ts';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import type { AbortableStream } from './event-stream.ts';
import { type StreamObserver, UnsentBudget } from './unsent-budget.ts';

/** An event stream of a viewer. */
type EndableStream = Pick<AbortableStream, 'end' | 'abort'>;

/**
 * Tracks the open event streams of viewers, and ends them when they must end (C-19) or when their clients
 * do not read (F-25).
 */
export class OpenStreams {
  // Not the whole viewer: its token would take memory as long as the stream is open.
  private readonly streams = new Map<EndableStream, Pick<Viewer, 'streamId' | 'seat'>>();
  private isEnded = false;

  /** @param nowMs service time */
  constructor(
    private readonly nowMs: () => number,
    private readonly budget = new UnsentBudget(),
  ) {}

  /**
   * Opens a stream. It ends when the viewer's token expires, or by `endAll` or `endOf`.
   * @param client the rate limit key of the client; null when it is not known
   * @param open creates the stream
   * @throws Unavailable after `endAll`
   */
  open<Stream extends EndableStream>(
    viewer: Pick<Viewer, 'streamId' | 'seat' | 'expiresMs'>,
    client: string | null,
    open: (observer: StreamObserver) => Stream,
  ): Stream {
    // Clients reconnect at once after `endAll`, which would keep the drain from finishing.
    if (this.isEnded) throw new Unavailable('The service is stopping.');
    const { streamId, seat } = viewer;
    const onEnd = () => {
      runtime.clearTimer(expiry);
      this.streams.delete(stream);
    };
    const stream = this.budget.open({ viewer: `${streamId}:${seat}`, client, onEnd }, open);
    const expiry = runtime.setTimeout(() => stream.end(), viewer.expiresMs - this.nowMs());
    this.streams.set(stream, { streamId, seat });
    return stream;
  }

  /** Ends all streams and rejects new ones; for the drain. */
  endAll(): void {
    this.isEnded = true;
    for (const stream of this.streams.keys()) stream.end();
  }

  /** Ends the streams of banned viewers. */
  endOf(streamId: string, seats: readonly number[]): void {
    if (seats.length === 0) return;
    const banned = new Set(seats);
    for (const [stream, viewer] of this.streams) {
      if (viewer.streamId === streamId && banned.has(viewer.seat)) stream.end();
    }
  }
}
