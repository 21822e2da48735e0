import { CHAT_TEXT_CHARS } from '../../protocol/limits.ts';
import type { Trouble, TroubleKind } from '../../sdk/errors.ts';

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

/** Why a line was not taken, and what to do. */
export function troubleWords({
  kind,
  retryAfterMs,
}: Pick<Trouble, 'kind' | 'retryAfterMs'>): string {
  if (kind !== 'busy') return WORDS[kind];
  const when = retryAfterMs === null ? 'a moment' : `${Math.ceil(retryAfterMs / 1_000)} s`;
  return `That was a lot at once. Try again in ${when}.`;
}
