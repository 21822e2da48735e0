import { CHAT_TEXT_CHARS } from '../../protocol/limits.ts';
import type { FourbeatError } from '../../sdk/errors.ts';
import type { ChatMode } from '../../sdk/types.ts';
import { texts } from '../texts.ts';

const { compose } = texts;

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
  if (left < 0) return compose.tooMany(-left);
  return left <= 40 ? compose.left(left) : null;
}

type SendError = Pick<FourbeatError, 'kind' | 'status' | 'message' | 'retryAfterMs'>;

/** @returns why a message was not sent and what to do; `modeText` says how long to wait */
export function errorText({ kind, status, message, retryAfterMs }: SendError): string {
  if (kind === 'busy') {
    return retryAfterMs === null
      ? `${compose.tooManyMessages} ${compose.tryLater}`
      : compose.notSentYet;
  }
  // The service says why: muted, or the chat is paused.
  return status === 409 ? message : compose.errors[kind];
}

/**
 * @param waitS time until the next message is accepted, seconds
 * @returns the limits of the chat; null when there are none
 */
export function modeText({ slowModeMs, paused }: ChatMode, waitS: number): string | null {
  if (paused) return compose.chatPaused;
  if (waitS > 0 && slowModeMs > 0) return compose.slowModeWait(formatWait(waitS));
  if (waitS > 0) return `${compose.tooManyMessages} ${compose.wait(formatWait(waitS))}`;
  return slowModeMs > 0 ? compose.slowMode(formatWait(slowModeMs / 1_000)) : null;
}

/** @returns text such as "10 s", "4:09 min" or "5 min" */
function formatWait(seconds: number): string {
  if (seconds < 60) return compose.seconds(seconds);
  const wholeS = Math.ceil(seconds);
  const [minutes, restS] = [Math.floor(wholeS / 60), wholeS % 60];
  return restS === 0
    ? compose.minutes(minutes)
    : compose.minutesAndSeconds(`${minutes}:${String(restS).padStart(2, '0')}`);
}
