import type { SentRequest } from './client-network.ts';
import { HARMLESS_FOR_POSTS } from './faults.ts';
import type { Timeline } from './timeline.ts';

/** The part of a `chats` event that is checked. */
export interface ChatsEvent {
  readonly messages: readonly { readonly text: string }[];
}

interface Post {
  readonly text: string;
  readonly sentMs: number;
  readonly endedMs: number;
  /** Null: no response. */
  readonly status: number | null;
}

// N-7, C-11: a post may be lost when a fault begins within this time after its response, or when one
// before it still has an effect.
const UNSEALED_MS = 1_500;
const AFTERMATH_MS = 2_500;

/**
 * Messages of the chat: each is in the feed at most once, no refused one is, and acknowledged ones are
 * unless a fault lost them.
 */
export class PostLedger {
  private readonly posts: Post[] = [];
  private readonly occurrences = new Map<string, number>();

  constructor(private readonly timeline: Timeline) {}

  onEnd({ body, status, sentMs, endedMs }: SentRequest): void {
    const { text } = JSON.parse(body as string) as { text?: string };
    if (text === undefined) return;
    this.posts.push({ text, sentMs, endedMs: endedMs as number, status });
  }

  onChats({ messages }: ChatsEvent): void {
    for (const { text } of messages) {
      this.occurrences.set(text, (this.occurrences.get(text) ?? 0) + 1);
    }
  }

  /** @returns violations. Call it when the whole feed has been read */
  judge(): string[] {
    const repeated = [...this.occurrences]
      .filter(([, times]) => times > 1)
      .map(([text, times]) => `message "${text}" is in the feed ${times} times`);
    // The SDK sends a message again, with a new token, after a 401.
    const sent = new Set(this.posts.map(({ text }) => text));
    const possible = new Set(
      this.posts.filter(({ status }) => !isRefusal(status)).map(({ text }) => text),
    );
    const wrong = [...this.occurrences.keys()]
      .filter((text) => !possible.has(text))
      .map(
        (text) =>
          `message "${text}" is in the feed, ${sent.has(text) ? 'and was refused' : 'and nobody sent it'}`,
      );
    const lost = this.posts
      .filter((post) => post.status === 204 && !this.occurrences.has(post.text))
      .filter(({ sentMs, endedMs }) =>
        this.timeline
          .faultsBetween(sentMs - AFTERMATH_MS, endedMs + UNSEALED_MS)
          .every((kind) => HARMLESS_FOR_POSTS.has(kind)),
      )
      .map(({ text }) => `message "${text}" was acknowledged, and lost`);
    return [...repeated, ...wrong, ...lost];
  }
}

const isRefusal = (status: number | null) => status !== null && status >= 400 && status < 500;
