import { CHAT_TEXT_CHARS } from '../../protocol/limits.ts';
import type { FourbeatError, TroubleKind } from '../../sdk/errors.ts';
import type { ChatMode } from '../../sdk/types.ts';

/** @returns what can be sent of what was typed or pasted: on one line, without blanks around it */
export function cleaned(typed: string): string {
  return typed.replace(/\p{Cc}+/gu, ' ').trim();
}

/** How many characters may still come; the service counts code points. Below 0: too many. */
export function charsLeft(text: string): number {
  return CHAT_TEXT_CHARS - [...text].length;
}

/** Beside the box when the end is near; null: there is room. */
export function roomWords(left: number): string | null {
  if (left < 0) return `${-left} too many`;
  return left <= 40 ? `${left} left` : null;
}

const WORDS: Record<Exclude<TroubleKind, 'busy'>, string> = {
  denied: 'The service does not let you write here.',
  unknown: 'This show is not there any more.',
  refused: 'The service does not take this. Please write something else.',
  away: 'The service cannot be reached. Nothing is lost: try again in a moment.',
  left: 'You have left the show.',
};

/** Why a line was not taken, and what to do. How long to wait is said beside the box. */
export function troubleWords({
  kind,
  status,
  message,
  retryAfterMs,
}: Pick<FourbeatError, 'kind' | 'status' | 'message' | 'retryAfterMs'>): string {
  if (kind === 'busy') return retryAfterMs === null ? `${A_LOT} Try again in a moment.` : NOT_YET;
  // It says who may not write, and why.
  return status === 409 ? message : WORDS[kind];
}

/**
 * How one may write now; null: as one likes.
 * @param waitS until the next line is taken, seconds
 */
export function modeWords({ slowModeMs, paused }: ChatMode, waitS: number): string | null {
  if (paused) return 'The chat is paused.';
  if (waitS > 0 && slowModeMs > 0) return `Slow mode: you can write in ${spanOf(waitS)}.`;
  if (waitS > 0) return `${A_LOT} You can write in ${spanOf(waitS)}.`;
  return slowModeMs > 0 ? `Slow mode: one message each ${spanOf(slowModeMs / 1_000)}.` : null;
}

const A_LOT = 'That was a lot at once.';
const NOT_YET = 'Your line is not sent yet.';

/** Such as "10 s", "4:09 min" or "5 min". */
function spanOf(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const whole = Math.ceil(seconds);
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60];
  return rest === 0 ? `${minutes} min` : `${minutes}:${String(rest).padStart(2, '0')} min`;
}
