import { ExternalStore } from '../../ui/external-store.ts';

/** How long a host can undo the hiding of a message. The service has no way back (C-16). */
export const UNDO_MS = 5_000;
/** A press this soon after the first one belongs to a double click. */
const DOUBLE_CLICK_MS = 700;

/** The functions of the page that DelayedHides uses. */
export interface DelayedHidesEnvironment {
  /** Sends the hiding of a message to the service. */
  readonly send: (id: string) => void;
  /**
   * Sends the hiding of messages while the page closes: must begin the request before it returns,
   * since a browser that is busy may not run the page again.
   */
  readonly sendAtClose: (ids: readonly string[]) => void;
  /** Calls back after `ms`. @returns cancels */
  readonly after: (ms: number, callback: () => void) => () => void;
  readonly monotonicMs: () => number;
}

interface DelayedHide {
  readonly sinceMs: number;
  readonly cancel: () => void;
}

/** Messages that a host hides, and can undo until they are sent. The snapshot has their ids. */
export class DelayedHides extends ExternalStore<ReadonlySet<string>> {
  readonly #environment: DelayedHidesEnvironment;
  readonly #delayed = new Map<string, DelayedHide>();

  constructor(environment: DelayedHidesEnvironment) {
    super(new Set());
    this.#environment = environment;
  }

  /** Hides a message after the time to undo it. */
  hide(id: string): void {
    if (this.#delayed.has(id)) return;
    this.#delayed.set(id, {
      sinceMs: this.#environment.monotonicMs(),
      cancel: this.#environment.after(UNDO_MS, () => this.#send(id)),
    });
    this.#publish();
  }

  /** Leaves a message visible that is not sent yet. */
  undo(id: string): void {
    const delayed = this.#delayed.get(id);
    if (!delayed || this.#environment.monotonicMs() - delayed.sinceMs < DOUBLE_CLICK_MS) return;
    delayed.cancel();
    this.#delayed.delete(id);
    this.#publish();
  }

  /** Hides the delayed messages at once: the page closes. */
  flush(): void {
    if (this.#delayed.size === 0) return;
    this.#environment.sendAtClose([...this.#delayed.keys()]);
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#publish();
  }

  #send(id: string): void {
    this.#delayed.delete(id);
    this.#environment.send(id);
    this.#publish();
  }

  #publish(): void {
    this.update(new Set(this.#delayed.keys()));
  }
}
