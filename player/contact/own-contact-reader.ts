import { ARCHIVE_MS } from '../../protocol/limits.ts';
import type { OwnContact } from '../../protocol/winner-contacts.ts';
import type { Visibility } from '../../sdk/environment.ts';
import type { ContactApi } from './contact-api.ts';

/** Winners read what they are asked within this time, so that they do not all come at once. */
const SPREAD_MS = 2_000;
const ATTEMPTS = 4;
const RETRY_MS = 5_000;
/** After the end of the show a winner's page reads every 30 to 60 s. */
const POLL_MS = 30_000;

/** Reads what the viewer is asked and has sent, after a random time and with retries. */
export class OwnContactReader {
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Number of the newest read: a later one, or `stop`, discards the response of an earlier one. */
  #newest = 0;

  constructor(
    private readonly api: Pick<ContactApi, 'read'>,
    private readonly onRead: (own: OwnContact) => void,
  ) {}

  read(attempts = ATTEMPTS, delayMs = SPREAD_MS): void {
    this.stop();
    const number = this.#newest;
    this.#timer = setTimeout(() => {
      this.api.read().then(
        (own) => {
          if (number === this.#newest) this.onRead(own);
        },
        () => {
          if (number === this.#newest && attempts > 1) this.read(attempts - 1, RETRY_MS);
        },
      );
    }, delayMs * Math.random());
  }

  stop(): void {
    this.#newest++;
    clearTimeout(this.#timer);
  }
}

/**
 * Calls `read` again and again after the end of the show, when the feed brings no `winner-contact` any
 * more: every 30 to 60 s while the page is visible, and when it becomes visible. The host may ask at any
 * time, so a limit ends it: a page that stays visible reads for as long as the stream is not archived,
 * 24 h; after that only when it becomes visible again.
 * @param visibility null: the page is always visible
 * @returns a function that stops it
 */
export function pollAfterEnd(read: () => void, visibility: Visibility | null): () => void {
  const untilMs = performance.now() + ARCHIVE_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = () => {
    if (performance.now() < untilMs) timer = setTimeout(poll, POLL_MS * (1 + Math.random()));
  };
  const poll = () => {
    read();
    schedule();
  };
  const onVisibilityChange = () => {
    clearTimeout(timer);
    if (!visibility?.isHidden()) poll();
  };
  const unsubscribe = visibility?.onChange(onVisibilityChange);
  if (!visibility?.isHidden()) schedule();
  return () => {
    clearTimeout(timer);
    unsubscribe?.();
  };
}
