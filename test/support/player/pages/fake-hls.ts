import Hls, { type ErrorData } from 'hls.js';

/** What tests need of hls.js: what it was told to do, and its events. */
export class FakeHls {
  readonly calls: string[] = [];
  levels: unknown[] = [];
  media: { readonly paused: boolean; readonly readyState: number } | null = null;
  readonly #listeners = new Map<string, ((type: string, data: unknown) => void)[]>();

  on(type: string, listener: (type: string, data: unknown) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  tell(type: string, data: unknown): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(type, data);
  }

  fail(error: Partial<ErrorData> | { readonly response: { readonly code: number } }): void {
    this.tell(Hls.Events.ERROR, error);
  }

  loadSource() {
    this.calls.push('loadSource');
  }

  startLoad() {
    this.calls.push('startLoad');
  }

  recoverMediaError() {
    this.calls.push('recoverMediaError');
  }
}
