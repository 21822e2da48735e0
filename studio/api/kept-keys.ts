import type { studioApi } from '../../protocol/studio-api.ts';

type OperationName = keyof typeof studioApi;

/**
 * What operations create that create another one when they are repeated. Other writes set a state, so repeating one is
 * harmless. They need new keys: pausing, continuing and pausing again must pause.
 */
const CREATED_KINDS: ReadonlyMap<OperationName, string> = new Map<OperationName, string>([
  ['createStream', 'stream'],
  ['createQuiz', 'quiz'],
  ['duplicateQuiz', 'quiz'],
  ['importQuizzes', 'quiz'],
  ['createProduct', 'product'],
  ['createWebhook', 'webhook'],
  ['createApiToken', 'token'],
  ['sendEvent', 'event'],
]);

/**
 * What operations change or remove. That may be what a creation without a response created: the same creation is then
 * meant as another one.
 */
const CHANGED_KINDS: ReadonlyMap<OperationName, string> = new Map<OperationName, string>([
  ['patchStream', 'stream'],
  ['patchQuiz', 'quiz'],
  ['deleteQuiz', 'quiz'],
  ['patchProduct', 'product'],
  ['deleteProduct', 'product'],
  ['patchWebhook', 'webhook'],
  ['deleteWebhook', 'webhook'],
  ['revokeApiToken', 'token'],
]);

/** Longer than people wait before they try again; a later equal call is meant as another one. */
const KEPT_MS = 60_000;
const KEPT_MAX = 20;
/** Error statuses that say nothing about an earlier attempt whose response was lost. */
const SAYS_NOTHING = new Set([401, 408, 429]);
/** The status of a write to a thing that an earlier attempt, or another member, has removed. */
const NOT_FOUND = 404;

interface KeptKey {
  readonly key: string;
  readonly untilMs: number;
  /** What the call creates. */
  readonly kind: string;
}

/** The idempotency keys of writes whose outcome is unknown, for people who try again (SPEC B-7). */
export class KeptKeys {
  /** By name and content of the call, the newest last. */
  readonly #keys = new Map<string, KeptKey>();

  /** Removes the key of an equal call and returns it; null: there is none. */
  take(call: string, nowMs: number): string | null {
    const kept = this.#keys.get(call);
    this.#keys.delete(call);
    return kept && nowMs < kept.untilMs ? kept.key : null;
  }

  /**
   * Keeps the key of a call, unless its outcome is known.
   * @param status of the response; null: none arrived
   */
  keep(name: OperationName, call: string, key: string, status: number | null, nowMs: number): void {
    const isKnown = status !== null && status < 500 && !SAYS_NOTHING.has(status);
    const isCarriedOut = status !== null && (status < 300 || status === NOT_FOUND);
    if (isCarriedOut) this.#deleteKind(CHANGED_KINDS.get(name));
    const kind = CREATED_KINDS.get(name);
    if (isKnown || kind === undefined) return;
    this.#keys.set(call, { key, untilMs: nowMs + KEPT_MS, kind });
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > KEPT_MAX && oldest !== undefined) this.#keys.delete(oldest);
  }

  /** Deletes the keys of calls that create this kind; undefined: of none. */
  #deleteKind(kind: string | undefined): void {
    for (const [call, kept] of this.#keys) if (kept.kind === kind) this.#keys.delete(call);
  }
}
