/** The part of the browser that the choice of transport depends on. */
export interface BrowserConnection {
  /** The protocol that delivered the page, such as `http/1.1` or `h2`; empty: unknown. */
  readonly protocol: string;
  /** Locks shared by all tabs of this origin; null in pages without TLS. */
  readonly locks: Pick<LockManager, 'request'> | null;
}

// A browser opens six HTTP/1.1 connections to a host, and a stream occupies one. The video and the
// requests of all tabs need the others.
const STREAMING_TABS_MAX = 2;

export function browserConnection(): BrowserConnection {
  const [entry] = performance.getEntriesByType('navigation');
  const { nextHopProtocol = '' } = (entry ?? {}) as Partial<PerformanceNavigationTiming>;
  return { protocol: nextHopProtocol, locks: navigator.locks ?? null };
}

/**
 * Chooses how this tab reads the feed: by a stream, unless the streams of other tabs already occupy
 * their share of the connections. A tab keeps its stream until it is closed.
 */
export async function chooseTransport(connection: BrowserConnection): Promise<'auto' | 'poll'> {
  const { protocol, locks } = connection;
  // HTTP/2 and HTTP/3 multiplex everything over one connection.
  if (protocol === 'h2' || protocol === 'h3') return 'auto';
  for (let slot = 0; locks && slot < STREAMING_TABS_MAX; slot++) {
    if (await acquire(locks, `fourbeat-stream-${slot}`)) return 'auto';
  }
  return 'poll';
}

/** Takes a free lock until the page is closed. @returns whether it was free */
function acquire(locks: Pick<LockManager, 'request'>, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    locks
      .request(name, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock && new Promise(() => {});
      })
      // Browsers refuse locks to pages without storage.
      .catch(() => resolve(false));
  });
}
