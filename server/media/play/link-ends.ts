import type { LinkEnd } from './source-link.ts';

/** What to do after a link has ended (SPEC M-4). */
export type Sequel =
  /** Connect again, after a pause. */
  | { readonly kind: 'again' }
  /** It makes no sense. @property why a line for the person who started it */
  | { readonly kind: 'give-up'; readonly why: string }
  /** The stream is over. */
  | { readonly kind: 'over' };

/**
 * What follows on the end of a link.
 * @param wasLive whether the source was taken at some time: then a line that breaks is passing, and
 *   a source that is there may be our own, which the service has not missed yet
 */
export function sequelOf({ code, reason }: LinkEnd, wasLive: boolean): Sequel {
  const said = reason === '' ? '' : ` (${reason})`;
  switch (code) {
    case 4401:
      return giveUp(`the stream key was refused: it has been rotated just now; start again${said}`);
    case 4410:
      return wasLive
        ? { kind: 'over' }
        : giveUp('the stream has ended; make a new one to go live again');
    case 4415:
      return giveUp(`the service does not understand what is sent${said}`);
    case 4409:
      return wasLive
        ? { kind: 'again' }
        : giveUp('the stream has a source already; stop that one first');
    default:
      return wasLive
        ? { kind: 'again' }
        : giveUp(reason || `the service closed the connection (${code})`);
  }
}

function giveUp(why: string): Sequel {
  return { kind: 'give-up', why };
}

const PAUSE_LEAST_MS = 1_000;
/** The longest pause before connecting again. */
export const PAUSE_MOST_MS = 30_000;

/**
 * How long to wait before the next try, ms.
 * @param tries those that failed since the source was last taken for long, from 0
 * @param random from 0 to 1: many senders must not come back at the same moment
 */
export function pauseMs(tries: number, random: number): number {
  const whole = Math.min(PAUSE_MOST_MS, PAUSE_LEAST_MS * 2 ** Math.min(tries, 16));
  return Math.round(whole * (1 - 0.3 * random));
}
