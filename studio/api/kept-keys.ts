import type { studioApi } from '../../protocol/studio-api.ts';

type OperationName = keyof typeof studioApi;

/**
 * Operations that do the same thing once more when they are repeated. Other writes set a state, so repeating one is
 * harmless. They need new keys: pausing, continuing and pausing again must pause.
 */
const CREATING: ReadonlySet<OperationName> = new Set<OperationName>([
  'createStream',
  'createQuiz',
  'duplicateQuiz',
  'importQuizzes',
  'createProduct',
  'createWebhook',
  'createApiToken',
  'sendEvent',
]);

/** Operations that undo one of those: the same call after them creates again. */
const REMOVING: ReadonlySet<OperationName> = new Set<OperationName>([
  'deleteQuiz',
  'deleteProduct',
  'deleteWebhook',
  'revokeApiToken',
]);

/** Longer than people wait before they try again; a later equal call is meant as another one. */
const KEPT_MS = 60_000;
const KEPT_MAX = 20;
/** Error statuses that say nothing about an earlier attempt whose response was lost. */
const SAYS_NOTHING = new Set([401, 408, 429]);

/** The idempotency keys of writes whose outcome is unknown, for people who try again (SPEC B-7). */
export class KeptKeys {
  /** By name and content of the call, the newest last. */
  readonly #keys = new Map<string, { readonly key: string; readonly untilMs: number }>();

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
    if (isKnown && REMOVING.has(name)) this.#keys.clear();
    if (isKnown || !CREATING.has(name)) return;
    this.#keys.set(call, { key, untilMs: nowMs + KEPT_MS });
    const [oldest] = this.#keys.keys();
    if (this.#keys.size > KEPT_MAX && oldest !== undefined) this.#keys.delete(oldest);
  }
}
