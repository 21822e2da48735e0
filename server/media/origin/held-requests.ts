import { Unavailable } from '../../platform/errors.ts';
import type { Playable, Presentation } from '../segment.ts';

// A held request is about 3 KB here and in the runtime: at most 60 MB.
const HELD_MAX = 20_000;

/** What waits for one thing. */
interface Wait {
  readonly over: Promise<boolean>;
  /** Ends it without what it waits for. */
  readonly stop: () => void;
}

/** Requests that are held until their stream is further (SPEC M-30). */
export class HeldRequests {
  /** How many are held. */
  count = 0;
  private isDraining = false;
  private readonly waits = new Map<Playable, Map<string, Wait>>();

  constructor(private readonly max = HELD_MAX) {}

  /**
   * Waits; all that wait for the same wait together.
   * @param name of what is waited for
   * @throws Unavailable when it did not come in time, or nobody may wait now
   */
  async until(
    playable: Playable,
    name: string,
    isThere: (presentation: Presentation) => boolean,
    ms: number,
  ): Promise<void> {
    if (this.isDraining) throw new Unavailable('The service is stopping.');
    if (this.count >= this.max) throw new Unavailable('Too many requests are held.');
    this.count++;
    try {
      const wait = this.waits.get(playable)?.get(name) ?? this.begin(playable, name, isThere, ms);
      if (!(await wait.over)) throw new Unavailable('It did not come in time.');
    } finally {
      this.count--;
    }
  }

  /** Lets all go, and holds no more. */
  drain(): void {
    this.isDraining = true;
    for (const waits of this.waits.values()) for (const { stop } of waits.values()) stop();
  }

  private begin(
    playable: Playable,
    name: string,
    isThere: (presentation: Presentation) => boolean,
    ms: number,
  ): Wait {
    const waits = this.waits.get(playable) ?? new Map<string, Wait>();
    this.waits.set(playable, waits);
    const stopped = Promise.withResolvers<void>();
    const timer = setTimeout(stopped.resolve, ms);
    const over = comes(playable, isThere, stopped.promise).finally(() => {
      clearTimeout(timer);
      waits.delete(name);
      if (waits.size === 0) this.waits.delete(playable);
    });
    const wait = { over, stop: stopped.resolve };
    waits.set(name, wait);
    return wait;
  }
}

async function comes(
  playable: Playable,
  isThere: (presentation: Presentation) => boolean,
  stopped: Promise<void>,
): Promise<boolean> {
  let isStopped = false;
  const stop = stopped.then(() => {
    isStopped = true;
  });
  for (;;) {
    const presentation = playable.presentation();
    if (isThere(presentation)) return true;
    if (isStopped) return false;
    await Promise.race([playable.changed(presentation.version), stop]);
  }
}
