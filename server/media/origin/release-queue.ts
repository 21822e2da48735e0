import { Fifo } from '../../platform/fifo.ts';
import { runtime } from '../../platform/runtime.ts';

/** At 15–30 µs from the release of a request to its response these take 3–6 ms. */
const RELEASES_PER_TURN = 200;

/**
 * Releases waiting requests, the first ones at once, the others over the next turns of the event loop: 20,000 in one
 * turn took the thread, which also seals, for 0.3 to 0.6 s.
 */
export class ReleaseQueue {
  private readonly queue = new Fifo<() => void>();
  private releasedInTurn = 0;

  add(release: () => void): void {
    this.queue.push(release);
    if (this.releasedInTurn < RELEASES_PER_TURN) this.releaseFirst();
  }

  private releaseFirst(): void {
    while (this.releasedInTurn < RELEASES_PER_TURN) {
      const release = this.queue.shift();
      if (!release) return;
      if (this.releasedInTurn++ === 0) runtime.setImmediate(() => this.startTurn());
      release();
    }
  }

  private startTurn(): void {
    this.releasedInTurn = 0;
    this.releaseFirst();
  }
}
