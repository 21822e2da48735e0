/** What is needed of the browser. */
export interface Surroundings {
  /** By which the page came, such as `http/1.1` or `h2`; empty where browsers do not tell. */
  readonly protocol: string;
  /** Of all tabs of this origin; null in pages without TLS, which have none. */
  readonly locks: Pick<LockManager, 'request'> | null;
}

// A browser has six connections to a host by HTTP/1.1, and a stream takes one for good. Pictures and
// all else of every tab need some too.
const STREAMING_TABS = 2;

/** The page's own. */
export function ownSurroundings(): Surroundings {
  const [entry] = performance.getEntriesByType('navigation');
  const { nextHopProtocol = '' } = (entry ?? {}) as Partial<PerformanceNavigationTiming>;
  return { protocol: nextHopProtocol, locks: navigator.locks ?? null };
}

/**
 * How this tab reads the feed: by a stream, unless so many others do that they would take all
 * connections to the service. A tab that streams does so until it is closed.
 */
export async function transportOf({ protocol, locks }: Surroundings): Promise<'auto' | 'poll'> {
  // One connection is enough for everything.
  if (protocol === 'h2' || protocol === 'h3') return 'auto';
  for (let place = 0; locks && place < STREAMING_TABS; place++) {
    if (await takes(locks, `fourbeat-stream-${place}`)) return 'auto';
  }
  return 'poll';
}

/** Takes a lock, if it is free, for as long as the page is there. */
function takes(locks: Pick<LockManager, 'request'>, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    locks
      .request(name, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock && new Promise(() => {});
      })
      // Browsers refuse them to pages that may keep nothing.
      .catch(() => resolve(false));
  });
}
