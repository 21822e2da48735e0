import { CHAT_TEXT_CHARS } from '../../protocol/limits.ts';
import type { ErrorKind, FourbeatError } from '../../sdk/errors.ts';
import type { ChatMode } from '../../sdk/types.ts';

/** @returns typed or pasted text as it is sent: on one line, trimmed, without control characters */
export function toSingleLine(typed: string): string {
  return typed.replace(/\p{Cc}+/gu, ' ').trim();
}

/** @returns the number of code points that still fit; negative: the text is too long */
export function charsLeft(text: string): number {
  return CHAT_TEXT_CHARS - [...text].length;
}

/** @returns the character counter beside the text field; null while there is enough room */
export function charsLeftText(left: number): string | null {
  if (left < 0) return `${-left} too many`;
  return left <= 40 ? `${left} left` : null;
}

const ERROR_TEXT: Record<Exclude<ErrorKind, 'busy'>, string> = {
  denied: 'You cannot write here. Reload the page to try again.',
  unknown: 'This show no longer exists.',
  refused: 'This message was not accepted. Change it and try again.',
  unavailable: 'Cannot connect. Your text is still here: try again in a moment.',
  left: 'You left the show.',
};

type SendError = Pick<FourbeatError, 'kind' | 'status' | 'message' | 'retryAfterMs'>;

/** @returns why a message was not sent and what to do; `modeText` says how long to wait */
export function errorText({ kind, status, message, retryAfterMs }: SendError): string {
  if (kind === 'busy') {
    return retryAfterMs === null ? `${TOO_MANY} Try again in a moment.` : NOT_SENT_YET;
  }
  // The service says why: muted, or the chat is paused.
  return status === 409 ? message : ERROR_TEXT[kind];
}

/**
 * @param waitS time until the next message is accepted, seconds
 * @returns the limits of the chat; null when there are none
 */
export function modeText({ slowModeMs, paused }: ChatMode, waitS: number): string | null {
  if (paused) return 'The chat is paused.';
  if (waitS > 0 && slowModeMs > 0) return `Slow mode: you can write again in ${formatWait(waitS)}.`;
  if (waitS > 0) return `${TOO_MANY} You can write again in ${formatWait(waitS)}.`;
  return slowModeMs > 0 ? `Slow mode: one message every ${formatWait(slowModeMs / 1_000)}.` : null;
}

const TOO_MANY = 'Too many messages at once.';
const NOT_SENT_YET = 'Your message is not sent yet.';

/** @returns text such as "10 s", "4:09 min" or "5 min" */
function formatWait(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const wholeS = Math.ceil(seconds);
  const [minutes, restS] = [Math.floor(wholeS / 60), wholeS % 60];
  return restS === 0 ? `${minutes} min` : `${minutes}:${String(restS).padStart(2, '0')} min`;
}
