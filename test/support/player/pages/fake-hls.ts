import Hls, { type ErrorData } from 'hls.js';

/** A fake of hls.js: records calls, and emits events. */
export class FakeHls {
  readonly calls: string[] = [];
  levels: unknown[] = [];
  media: { readonly paused: boolean; readonly readyState: number } | null = null;
  readonly #listeners = new Map<string, ((type: string, data: unknown) => void)[]>();

  on(type: string, listener: (type: string, data: unknown) => void): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener]);
  }

  emit(type: string, data: unknown): void {
    for (const listener of this.#listeners.get(type) ?? []) listener(type, data);
  }

  fail(error: Partial<ErrorData> | { readonly response: { readonly code: number } }): void {
    this.emit(Hls.Events.ERROR, error);
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
