import {
  CHAT_NAME_CHARS,
  CHAT_SAMPLE,
  CHAT_TEXT_CHARS,
  HEARTS_MAX,
} from '../../protocol/limits.ts';
import type { ChatKind, ChatMessage, Chats } from '../types.ts';
import { integerOf, MockProblem, textOf } from './mock-replies.ts';

/** Field of a `chats` event by kind. */
const FIELDS = {
  message: 'messages',
  question: 'questions',
  greeting: 'greetings',
  cheer: 'cheers',
  purchase: 'purchases',
} as const;

/** Collects the chat of an interval (SPEC C). */
export class MockChat {
  #pending = emptyChats();
  #isEmpty = true;
  #ids = 0;

  /** Adds a viewer's request. @throws MockProblem 400 */
  post(body: Readonly<Record<string, unknown>>, viewer: string, at: number): void {
    const { kind, count = 1, name, text } = body;
    if (kind === 'heart') {
      this.addHearts(integerOf(count, 'count', 1, HEARTS_MAX));
      return;
    }
    if (typeof kind !== 'string' || !Object.hasOwn(FIELDS, kind) || kind === 'purchase') {
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
  add(kind: keyof typeof FIELDS, message: Omit<ChatMessage, 'id'>): void {
    this.#ids += 1;
    const messages = this.#pending[FIELDS[kind]];
    if (messages.length < CHAT_SAMPLE) messages.push({ id: `message-${this.#ids}`, ...message });
    this.#isEmpty = false;
  }

  addHearts(count: number): void {
    this.#pending.hearts += count;
    this.#isEmpty = false;
  }

  addDiscounts(count: number): void {
    this.#pending.discounts += count;
    this.#isEmpty = false;
  }

  /** @returns the chat since the last call; null: nothing */
  take(): Chats | null {
    const chats = this.#isEmpty ? null : this.#pending;
    this.#pending = emptyChats();
    this.#isEmpty = true;
    return chats;
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
