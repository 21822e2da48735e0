import type { ConnectionClose } from './source-connection.ts';

/** What to do after a connection has closed (SPEC M-4). */
export type ReconnectDecision =
  /** Connect again after a delay. */
  | { readonly kind: 'retry' }
  /** A retry cannot succeed. @property reason one line for the user */
  | { readonly kind: 'give-up'; readonly reason: string }
  | { readonly kind: 'stream-ended' };

/**
 * Decides what to do after a close.
 * @param wasLive whether the service has accepted the source before. Then a broken connection is
 *   transient, and `busy` may refer to this sender's own previous session, not yet expired.
 */
export function decideReconnect(
  { code, reason }: ConnectionClose,
  wasLive: boolean,
): ReconnectDecision {
  const detail = reason === '' ? '' : ` (${reason})`;
  switch (code) {
    case 4401:
      return giveUp(
        `the stream key was rejected, probably because it was just rotated; start again${detail}`,
      );
    case 4410:
      return wasLive
        ? { kind: 'stream-ended' }
        : giveUp('the stream has ended; reopen it in the studio, or create a new one');
    case 4415:
      return giveUp(`the service cannot decode the media${detail}`);
    case 4409:
      return wasLive
        ? { kind: 'retry' }
        : giveUp(reason || 'the stream already has a source; stop that one first');
    default:
      return wasLive
        ? { kind: 'retry' }
        : giveUp(reason || `the service closed the connection (${code})`);
  }
}

function giveUp(reason: string): ReconnectDecision {
  return { kind: 'give-up', reason };
}

const MIN_RECONNECT_DELAY_MS = 1_000;
/** Upper bound of the delay before a reconnect. */
export const MAX_RECONNECT_DELAY_MS = 30_000;

/**
 * Delay before the next attempt, ms: exponential, with jitter so that many senders do not reconnect
 * at the same moment.
 * @param attempts failed attempts since the last stable connection, from 0
 * @param random from 0 to 1
 */
export function reconnectDelayMs(attempts: number, random: number): number {
  const fullDelayMs = Math.min(
    MAX_RECONNECT_DELAY_MS,
    MIN_RECONNECT_DELAY_MS * 2 ** Math.min(attempts, 16),
  );
  return Math.round(fullDelayMs * (1 - 0.3 * random));
}
