import { HEARTS_MAX } from '../protocol/limits.ts';
import type { ApiClient } from './api-client.ts';
import type { CancellableTimers } from './cancellable-timers.ts';
import { toFourbeatError } from './errors.ts';
import type { Chats } from './types.ts';
import type { Snapshot } from './viewer.ts';

type Messages = Snapshot['messages'];

/** Maximum number of messages in a snapshot. */
export const MESSAGES_MAX = 100;
const SEND_INTERVAL_MS = 1_000;

/** Kinds of messages; a `chats` event has an array of each, named in the plural. */
export const MESSAGE_KINDS = ['message', 'question', 'greeting', 'cheer', 'purchase'] as const;

/** @returns the messages of an interval, of all kinds */
export function messagesOf(chats: Chats): Messages {
  return MESSAGE_KINDS.flatMap((kind) =>
    chats[`${kind}s`].map((message) => ({ ...message, kind })),
  );
}

/** @returns both, by time, each message once, limited to the newest; the same array when none is new */
export function mergeMessages(messages: Messages, others: Messages = []): Messages {
  const added = others.filter(({ id }) => !messages.some((message) => message.id === id));
  if (!added.length) return messages;
  return [...messages, ...added].sort((a, b) => a.at - b.at).slice(-MESSAGES_MAX);
}

/** Sends hearts in batches, at most once a second. A batch that cannot be sent is dropped. */
export class HeartSender {
  #count = 0;
  #isSending = false;
  readonly #api: Pick<ApiClient, 'sendChat'>;
  readonly #timers: CancellableTimers;

  constructor(api: Pick<ApiClient, 'sendChat'>, timers: CancellableTimers) {
    this.#api = api;
    this.#timers = timers;
  }

  add(): void {
    this.#count = Math.min(this.#count + 1, HEARTS_MAX);
    if (!this.#isSending) this.#send().catch(() => {});
  }

  /** @throws FourbeatError `left` */
  async #send(): Promise<void> {
    this.#isSending = true;
    while (this.#count > 0) {
      const post = { kind: 'heart', count: this.#count } as const;
      this.#count = 0;
      const error = await this.#api.sendChat(post).then(() => null, toFourbeatError);
      await this.#timers.wait(Math.max(SEND_INTERVAL_MS, error?.retryAfterMs ?? 0));
    }
    this.#isSending = false;
  }
}
