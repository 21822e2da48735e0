import { TOKEN_LIFETIME_S } from '../../../protocol/limits.ts';

/** A key that viewer tokens are signed with; times in Unix ms. */
export interface SigningKey {
  readonly kid: string;
  /** Private JWK (OKP, Ed25519) as JSON. */
  readonly privateJwk: string;
  readonly created: number;
  /** It is published from `created` on, and signs from here on. */
  readonly activeFrom: number;
  /** When the last token it signed has expired; null while it is the newest. */
  readonly retires: number | null;
}

/** A key signs for this long before the next one takes over. */
export const KEY_LIFETIME_MS = 30 * 24 * 3600_000;
/**
 * Between a rotation and the new key's first signature: 10 minutes, so that cached key sets know it
 * in time, and one more for servers that notice the rotation of another process.
 */
export const PUBLISH_AHEAD_MS = 11 * 60_000;
// Clocks of verifiers may be off; a key outlives its last token by this much.
const LEEWAY_MS = 60_000;

/** The key that signs at `nowMs`: the newest that is active. */
export function signingKeyAt(keys: readonly SigningKey[], nowMs: number): SigningKey | undefined {
  return keys
    .filter((key) => key.activeFrom <= nowMs)
    .reduce<SigningKey | undefined>(
      (newest, key) => (!newest || key.activeFrom >= newest.activeFrom ? key : newest),
      undefined,
    );
}

/** Keys that a verifier must know at `nowMs`: those to come, the current one, and those whose tokens live. */
export function publishedKeys(keys: readonly SigningKey[], nowMs: number): SigningKey[] {
  return keys.filter((key) => key.retires === null || key.retires > nowMs);
}

/** Whether a rotation would change the set of keys: one is due, asked for, or to be forgotten. */
export function rotationIsDue(keys: readonly SigningKey[], nowMs: number, force: boolean): boolean {
  const kept = publishedKeys(keys, nowMs);
  return kept.length < keys.length || needsKey(kept, nowMs, force);
}

function needsKey(kept: readonly SigningKey[], nowMs: number, force: boolean): boolean {
  const newest = kept.at(-1);
  if (!newest) return true;
  if (newest.activeFrom > nowMs) return false; // The next one is published and waits for its turn.
  return force || nowMs >= newest.activeFrom + KEY_LIFETIME_MS - PUBLISH_AHEAD_MS;
}

/**
 * What the set of keys becomes. The very first key is active at once; later ones are published
 * ahead, and the one they replace retires when its last token has expired.
 */
export function planRotation(
  keys: readonly SigningKey[],
  offered: { readonly kid: string; readonly privateJwk: string },
  nowMs: number,
  force: boolean,
): { kept: SigningKey[]; forgotten: SigningKey[] } {
  const kept = publishedKeys(keys, nowMs);
  const forgotten = keys.filter((key) => !kept.includes(key));
  if (!needsKey(kept, nowMs, force)) return { kept, forgotten };
  const activeFrom = kept.length > 0 ? nowMs + PUBLISH_AHEAD_MS : nowMs;
  const retires = activeFrom + TOKEN_LIFETIME_S * 1000 + LEEWAY_MS;
  return {
    kept: [
      ...kept.map((key) => (key.retires === null ? { ...key, retires } : key)),
      { ...offered, created: nowMs, activeFrom, retires: null },
    ],
    forgotten,
  };
}
