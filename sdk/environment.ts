/** What the SDK needs of the machine it runs on. Tests bring their own, and need not wait. */
export interface Environment {
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** The machine's clock, Unix ms; somebody may set it. */
  readonly systemMs: () => number;
  /** A clock that is never set, ms; it may stand still while the machine sleeps. */
  readonly monotonicMs: () => number;
  /** Runs something once, so many ms from now. @returns what calls it off */
  readonly after: (ms: number, run: () => void) => () => void;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Whether somebody looks at the page; null where there is none. */
  readonly visibility: Visibility | null;
  /** Whether bodies of responses can be read as they come: not in React Native. */
  readonly canStream: boolean;
}

export interface Visibility {
  isHidden(): boolean;
  /** @returns what ends it */
  onChange(listener: () => void): () => void;
}

/** The real one: browsers, Node, Bun, Deno and React Native. */
export function realEnvironment(): Environment {
  return {
    fetch: (url, init) => fetch(url, init),
    systemMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    random: Math.random,
    visibility: pageVisibility(),
    canStream: 'body' in Response.prototype,
  };
}

/** Keeps what a viewer did over a reload: `localStorage`, or anything of that shape. */
export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** That of the page; null where there is none, or pages may not use it. */
export function pageStorage(): Storage | null {
  try {
    const { document, localStorage } = globalThis as { document?: Page; localStorage?: Storage };
    // Node warns of its own, which is empty each time.
    return (document && localStorage) ?? null;
  } catch {
    return null;
  }
}

/** What is needed of a page; the SDK also compiles where there are none. */
interface Page {
  readonly visibilityState: string;
  readonly addEventListener: (type: 'visibilitychange', listener: () => void) => void;
  readonly removeEventListener: (type: 'visibilitychange', listener: () => void) => void;
}

function pageVisibility(): Visibility | null {
  const page = (globalThis as { document?: Page }).document;
  if (!page?.addEventListener) return null;
  return {
    isHidden: () => page.visibilityState === 'hidden',
    onChange: (listener) => {
      page.addEventListener('visibilitychange', listener);
      return () => page.removeEventListener('visibilitychange', listener);
    },
  };
}
