import {
  CHAT_NAME_CHARS,
  CHAT_RECENT,
  CHAT_SAMPLE,
  CHAT_TEXT_CHARS,
  HEARTS_MAX,
} from '../../protocol/limits.ts';
import { MESSAGE_KINDS, mergeMessages, messagesOf } from '../chat.ts';
import type { ChatKind, ChatMessage, Chats, PinnedMessage } from '../types.ts';
import { integerOf, MockProblem, textOf } from './mock-replies.ts';

/** Collects the chat of an interval (SPEC C). */
export class MockChat {
  #pending: ReturnType<typeof emptyChats> | null = null;
  #ids = 0;
  /** The newest messages that `take` returned, oldest first. */
  recent: readonly PinnedMessage[] = [];

  /** Adds a viewer's request. @throws MockProblem 400 */
  post(body: Readonly<Record<string, unknown>>, viewer: string, at: number): void {
    const { kind, count = 1, name, text } = body;
    if (kind === 'heart') {
      this.addHearts(integerOf(count, 'count', 1, HEARTS_MAX));
      return;
    }
    if (!MESSAGE_KINDS.includes(kind as ChatKind) || kind === 'purchase') {
      throw new MockProblem(400, 'kind: must be message, question, greeting, cheer or heart.');
    }
    const message = {
      viewer,
      name: name === undefined ? '' : textOf(name, 'name', CHAT_NAME_CHARS),
      text: textOf(text, 'text', CHAT_TEXT_CHARS),
      at,
    };
    this.add(kind as ChatKind, message);
  }

  /** Keeps at most 50 messages of a kind per interval: the first ones, where the service takes a sample. */
  add(kind: (typeof MESSAGE_KINDS)[number], message: Omit<ChatMessage, 'id'>): void {
    this.#ids += 1;
    const messages = this.#chats()[`${kind}s`];
    if (messages.length < CHAT_SAMPLE) messages.push({ id: `message-${this.#ids}`, ...message });
  }

  addHearts(count: number): void {
    this.#chats().hearts += count;
  }

  addDiscounts(count: number): void {
    this.#chats().discounts += count;
  }

  /** @returns the chat since the last call; null: nothing */
  take(): Chats | null {
    const chats = this.#pending;
    this.#pending = null;
    if (chats) this.recent = mergeMessages(this.recent, messagesOf(chats)).slice(-CHAT_RECENT);
    return chats;
  }

  #chats() {
    this.#pending ??= emptyChats();
    return this.#pending;
  }
}

function emptyChats() {
  const list = (): ChatMessage[] => [];
  return {
    messages: list(),
    questions: list(),
    greetings: list(),
    cheers: list(),
    purchases: list(),
    hearts: 0,
    discounts: 0,
  };
}
