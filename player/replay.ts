import type { EventsInterval } from '../protocol/feed.ts';
import type { Viewer } from './viewer.ts';

// Who jumps in a recording does not want to see all that is between.
const JUMP = 20;
// So many are on their way at once, when a picture that was stuck goes on.
const ASKED_MAX = 8;
const AGAIN_MS = 2_000;

/** The feed of a show that is over: each interval is asked for when it comes on screen. */
export class Replay {
  private last: number | null = null;
  private isAsking = false;

  /** @param onJump the viewer went elsewhere: what was shown has not happened there */
  constructor(
    private readonly viewer: Viewer,
    private readonly onInterval: (interval: EventsInterval) => void,
    private readonly onJump: () => void,
  ) {}

  /** This interval is on screen. May be called as often as one likes. */
  async show(interval: number): Promise<void> {
    if (this.isAsking) return;
    if (this.last === null || interval < this.last || interval > this.last + JUMP) {
      if (this.last !== null) this.onJump();
      this.last = interval - 1;
    }
    const count = Math.min(ASKED_MAX, interval - this.last);
    if (count === 0) return;
    this.isAsking = true;
    const first = this.last + 1;
    try {
      const headers = await this.viewer.headers();
      const asked = Array.from({ length: count }, (_, at) => this.ask(first + at, headers));
      for (const one of await Promise.all(asked)) this.onInterval(one);
      this.last = first + count - 1;
    } catch {
      // The service is away.
      this.viewer.forget();
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    } finally {
      this.isAsking = false;
    }
  }

  private async ask(interval: number, headers: Record<string, string>): Promise<EventsInterval> {
    const response = await fetch(this.viewer.feedUrl(interval), { headers });
    if (!response.ok) throw new Error(`the feed answers ${response.status}`);
    return (await response.json()) as EventsInterval;
  }
}
