import { HEARTS_MAX } from '../protocol/limits.ts';
import type { Calls } from './calls.ts';
import { asTrouble } from './errors.ts';
import type { Chats } from './types.ts';
import type { Snapshot } from './viewer.ts';
import type { CancellableTimers } from './waits.ts';

type Lines = Snapshot['lines'];

/** Most lines that a snapshot holds. */
export const LINES_MAX = 100;
const HEARTS_GAP_MS = 1_000;

const KINDS = ['message', 'question', 'greeting', 'cheer', 'purchase'] as const;

/** @returns the newest lines, with those of an interval */
export function withLines(lines: Lines, chats: Chats): Lines {
  const added = KINDS.flatMap((kind) => chats[`${kind}s`].map((line) => ({ ...line, kind })));
  if (!added.length) return lines;
  return [...lines, ...added.sort((a, b) => a.at - b.at)].slice(-LINES_MAX);
}

/** Gathers hearts, and sends them at most once a second. One that cannot be sent is lost. */
export class Hearts {
  #count = 0;
  #isSending = false;
  readonly #calls: Pick<Calls, 'sendChat'>;
  readonly #waits: CancellableTimers;

  constructor(calls: Pick<Calls, 'sendChat'>, waits: CancellableTimers) {
    this.#calls = calls;
    this.#waits = waits;
  }

  add(): void {
    this.#count = Math.min(this.#count + 1, HEARTS_MAX);
    if (!this.#isSending) this.#send().catch(() => {});
  }

  /** @throws Trouble `left` */
  async #send(): Promise<void> {
    this.#isSending = true;
    while (this.#count > 0) {
      const post = { kind: 'heart', count: this.#count } as const;
      this.#count = 0;
      const trouble = await this.#calls.sendChat(post).then(() => null, asTrouble);
      await this.#waits.wait(Math.max(HEARTS_GAP_MS, trouble?.retryAfterMs ?? 0));
    }
    this.#isSending = false;
  }
}
