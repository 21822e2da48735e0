import type { Viewer } from '../../auth/viewer-tokens/viewer-tokens.ts';
import type { SeatOfStream } from '../../domains/moderation/chat-rooms.ts';
import { Unavailable } from '../../platform/errors.ts';

/** An event stream of a viewer. */
export interface EndableStream {
  end(): void;
}

/** The event streams of viewers that are open, and why they end: F-25, C-19. */
export class OpenStreams {
  private readonly open = new Map<EndableStream, SeatOfStream>();
  private isEnded = false;

  /** @param nowMs service time */
  constructor(private readonly nowMs: () => number) {}

  /**
   * Opens one, which ends when the token of its viewer expires, or when it is told to.
   * @param open is given what must be called when it is over, however it ended
   * @throws Unavailable once all were ended
   */
  begin<Stream extends EndableStream>(viewer: Viewer, open: (onEnd: () => void) => Stream): Stream {
    // One that was just ended comes back at once, and would keep the drain from its end.
    if (this.isEnded) throw new Unavailable('The service is stopping.');
    const stream = open(() => {
      clearTimeout(expiry);
      this.open.delete(stream);
    });
    const expiry = setTimeout(() => stream.end(), viewer.expiresMs - this.nowMs());
    // A viewer has a token, which nobody asks for again.
    this.open.set(stream, { streamId: viewer.streamId, seat: viewer.seat });
    return stream;
  }

  /** Ends all, and lets no other begin: for the drain. */
  endAll(): void {
    this.isEnded = true;
    for (const stream of this.open.keys()) stream.end();
  }

  /** Ends those of viewers who were sent out. */
  endOf(streamId: string, seats: readonly number[]): void {
    const gone = new Set(seats);
    for (const [stream, viewer] of this.open) {
      if (viewer.streamId === streamId && gone.has(viewer.seat)) stream.end();
    }
  }
}
