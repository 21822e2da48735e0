import type { RateLimit, RateWindows } from './rate-limiter.ts';

interface Window {
  left: number;
  readonly endMs: number;
}

// About 15 MB (SPEC L-14).
const KEYS_MAX = 100_000;

/** Windows by string key, such as a client address or an account. */
export class KeyWindows implements RateWindows<string> {
  private readonly durationMs: number;
  // In the order of their ends, since all are equally long.
  private readonly windows = new Map<string, Window>();
  /** Shared by all keys beyond `keysMax`. */
  private overflow: Window | null = null;
  private oldestEndMs = Number.POSITIVE_INFINITY;

  /** @param keysMax keys with a window of their own; further keys share one window */
  constructor(
    private readonly limit: RateLimit,
    private readonly keysMax = KEYS_MAX,
  ) {
    this.durationMs = limit.durationS * 1_000;
  }

  take(key: string, nowMs: number): number {
    if (nowMs >= this.oldestEndMs) this.removeEnded(nowMs);
    const window = this.windows.get(key) ?? this.open(key, nowMs);
    if (window.left === 0) return window.endMs - nowMs;
    window.left--;
    return 0;
  }

  private open(key: string, nowMs: number): Window {
    const window = { left: this.limit.points, endMs: nowMs + this.durationMs };
    if (this.windows.size >= this.keysMax) {
      if (this.overflow === null || this.overflow.endMs <= nowMs) this.overflow = window;
      return this.overflow;
    }
    this.windows.set(key, window);
    this.oldestEndMs = Math.min(this.oldestEndMs, window.endMs);
    return window;
  }

  private removeEnded(nowMs: number): void {
    this.oldestEndMs = Number.POSITIVE_INFINITY;
    for (const [key, { endMs }] of this.windows) {
      if (endMs > nowMs) {
        this.oldestEndMs = endMs;
        return;
      }
      this.windows.delete(key);
    }
  }
}
