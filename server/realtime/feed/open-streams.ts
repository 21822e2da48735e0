import type { Viewer } from '../../auth/viewer-tokens/checked-viewers.ts';
import { Unavailable } from '../../platform/errors.ts';
import type { EventStream } from './event-stream.ts';

/** An event stream of a viewer. */
type EndableStream = Pick<EventStream, 'end'>;

/** Tracks the open event streams of viewers, and ends them when they must end (F-25, C-19). */
export class OpenStreams {
  // Not the whole viewer: its token would take memory as long as the stream is open.
  private readonly streams = new Map<EndableStream, Pick<Viewer, 'streamId' | 'seat'>>();
  private isEnded = false;

  /** @param nowMs service time */
  constructor(private readonly nowMs: () => number) {}

  /**
   * Opens a stream. It ends when the viewer's token expires, or by `endAll` or `endOf`.
   * @param open creates the stream; it must call `onEnd` when the stream is over for any reason
   * @throws Unavailable after `endAll`
   */
  open<Stream extends EndableStream>(viewer: Viewer, open: (onEnd: () => void) => Stream): Stream {
    // Clients reconnect at once after `endAll`, which would keep the drain from finishing.
    if (this.isEnded) throw new Unavailable('The service is stopping.');
    const stream = open(() => {
      clearTimeout(expiry);
      this.streams.delete(stream);
    });
    const expiry = setTimeout(() => stream.end(), viewer.expiresMs - this.nowMs());
    this.streams.set(stream, { streamId: viewer.streamId, seat: viewer.seat });
    return stream;
  }

  /** Ends all streams and rejects new ones; for the drain. */
  endAll(): void {
    this.isEnded = true;
    for (const stream of this.streams.keys()) stream.end();
  }

  /** Ends the streams of banned viewers. */
  endOf(streamId: string, seats: readonly number[]): void {
    const banned = new Set(seats);
    for (const [stream, viewer] of this.streams) {
      if (viewer.streamId === streamId && banned.has(viewer.seat)) stream.end();
    }
  }
}
