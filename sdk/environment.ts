/** What the SDK needs of the platform. Tests replace it. */
export interface Environment {
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** The system clock, Unix ms; it may be set at any time. */
  readonly systemMs: () => number;
  /** A monotonic clock, ms; it may stand still while the machine sleeps. */
  readonly monotonicMs: () => number;
  /** Runs a function once after this time. @returns a function that cancels it */
  readonly after: (ms: number, run: () => void) => () => void;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Whether the page is visible; null where there is no page. */
  readonly visibility: Visibility | null;
  /** Whether response bodies can be read incrementally: not in React Native. */
  readonly canStream: boolean;
}

/** Visibility of the page or app. */
export interface Visibility {
  isHidden(): boolean;
  /** @returns a function that removes the listener */
  onChange(listener: () => void): () => void;
}

/** The real platform: browsers, Node, Bun, Deno and React Native. */
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

/** Keeps the viewer's answers across reloads: `localStorage`, or an object of that shape. */
export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** The page's `localStorage`; null where there is none, or access is denied. */
export function pageStorage(): Storage | null {
  try {
    const { document, localStorage } = globalThis as { document?: Page; localStorage?: Storage };
    // Node warns about its own `localStorage`, which is always empty.
    return (document && localStorage) ?? null;
  } catch {
    return null;
  }
}

/** The part of `document` that is used; the SDK also compiles without DOM types. */
interface Page {
  readonly hidden: boolean;
  readonly addEventListener: (type: 'visibilitychange', listener: () => void) => void;
  readonly removeEventListener: (type: 'visibilitychange', listener: () => void) => void;
}

function pageVisibility(): Visibility | null {
  const page = (globalThis as { document?: Page }).document;
  if (!page?.addEventListener) return null;
  return {
    isHidden: () => page.hidden,
    onChange: (listener) => {
      page.addEventListener('visibilitychange', listener);
      return () => page.removeEventListener('visibilitychange', listener);
    },
  };
}
