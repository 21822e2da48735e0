import { TOKEN_LIFETIME_S } from '../../../protocol/limits.ts';

/** A key that signs viewer tokens; times in Unix ms. */
export interface SigningKey {
  readonly kid: string;
  /** Private JWK (OKP, Ed25519) as JSON. */
  readonly privateJwk: string;
  readonly created: number;
  /** When the key starts to sign. It is published from `created` on. */
  readonly activeFrom: number;
  /** When the last token it signed has expired; null while it is the newest. */
  readonly retires: number | null;
}

/** How long a key signs before the next key replaces it. */
export const KEY_LIFETIME_MS = 30 * 24 * 3600_000;
/**
 * Time between a rotation and the new key's first signature: 10 minutes for cached key sets to expire,
 * and one minute for other nodes to load the key.
 */
export const PUBLISH_AHEAD_MS = 11 * 60_000;
// A key outlives its last token by this much, for verifiers whose clocks are off.
const LEEWAY_MS = 60_000;

/** The key that signs at `nowMs`: the newest active one. */
export function signingKeyAt(keys: readonly SigningKey[], nowMs: number): SigningKey | undefined {
  return keys
    .filter((key) => key.activeFrom <= nowMs)
    .reduce<SigningKey | undefined>(
      (newest, key) => (!newest || key.activeFrom >= newest.activeFrom ? key : newest),
      undefined,
    );
}

/** The keys to publish at `nowMs`: the next, the current, and those that still have valid tokens. */
export function publishedKeys(keys: readonly SigningKey[], nowMs: number): SigningKey[] {
  return keys.filter((key) => key.retires === null || key.retires > nowMs);
}

/** Whether a rotation would change the keys: a new key is due or forced, or an old one has retired. */
export function rotationIsDue(keys: readonly SigningKey[], nowMs: number, force: boolean): boolean {
  const retained = publishedKeys(keys, nowMs);
  return retained.length < keys.length || needsKey(retained, nowMs, force);
}

function needsKey(retained: readonly SigningKey[], nowMs: number, force: boolean): boolean {
  const newest = retained.at(-1);
  if (!newest) return true;
  if (newest.activeFrom > nowMs) return false; // The next key is already published.
  return force || nowMs >= newest.activeFrom + KEY_LIFETIME_MS - PUBLISH_AHEAD_MS;
}

/**
 * The keys after a rotation. The first key is active at once; a later one is published ahead, and the
 * key that it replaces retires when its last token has expired.
 */
export function planRotation(
  keys: readonly SigningKey[],
  offered: { readonly kid: string; readonly privateJwk: string },
  nowMs: number,
  force: boolean,
): { retained: SigningKey[]; retired: SigningKey[] } {
  const retained = publishedKeys(keys, nowMs);
  const retired = keys.filter((key) => !retained.includes(key));
  if (!needsKey(retained, nowMs, force)) return { retained, retired };
  const activeFrom = retained.length > 0 ? nowMs + PUBLISH_AHEAD_MS : nowMs;
  const retires = activeFrom + TOKEN_LIFETIME_S * 1000 + LEEWAY_MS;
  return {
    retained: [
      ...retained.map((key) => (key.retires === null ? { ...key, retires } : key)),
      { ...offered, created: nowMs, activeFrom, retires: null },
    ],
    retired,
  };
}
