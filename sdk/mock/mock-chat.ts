import {
  CHAT_NAME_CHARS,
  CHAT_SAMPLE,
  CHAT_TEXT_CHARS,
  HEARTS_MAX,
} from '../../protocol/limits.ts';
import type { ChatKind, ChatLine, Chats } from '../types.ts';
import { integerOf, MockProblem, textOf } from './mock-replies.ts';

/** Where each kind of line is in a `chats` event. */
const ARRAYS = {
  message: 'messages',
  question: 'questions',
  greeting: 'greetings',
  cheer: 'cheers',
  purchase: 'purchases',
} as const;

/** What viewers and the producer say, until the interval ends (SPEC C). */
export class MockChat {
  #waiting = emptyChats();
  #isEmpty = true;
  #ids = 0;

  /** A viewer's post. @throws MockProblem 400 */
  post(body: Readonly<Record<string, unknown>>, viewer: string, at: number): void {
    const { kind, count = 1, name, text } = body;
    if (kind === 'heart') {
      this.hearts(integerOf(count, 'count', 1, HEARTS_MAX));
      return;
    }
    if (typeof kind !== 'string' || !Object.hasOwn(ARRAYS, kind) || kind === 'purchase') {
      throw new MockProblem(400, 'kind: must be message, question, greeting, cheer or heart.');
    }
    const line = {
      viewer,
      name: name === undefined ? '' : textOf(name, 'name', CHAT_NAME_CHARS),
      text: textOf(text, 'text', CHAT_TEXT_CHARS),
      at,
    };
    this.add(kind as ChatKind, line);
  }

  /** Of more than 50 of a kind in an interval the service keeps a sample; here it is the first. */
  add(kind: keyof typeof ARRAYS, line: Omit<ChatLine, 'id'>): void {
    this.#ids += 1;
    const lines = this.#waiting[ARRAYS[kind]];
    if (lines.length < CHAT_SAMPLE) lines.push({ id: `line-${this.#ids}`, ...line });
    this.#isEmpty = false;
  }

  hearts(count: number): void {
    this.#waiting.hearts += count;
    this.#isEmpty = false;
  }

  discounts(count: number): void {
    this.#waiting.discounts += count;
    this.#isEmpty = false;
  }

  /** What was said since the last time; null: nothing. */
  take(): Chats | null {
    const chats = this.#isEmpty ? null : this.#waiting;
    this.#waiting = emptyChats();
    this.#isEmpty = true;
    return chats;
  }
}

function emptyChats() {
  const none = (): ChatLine[] => [];
  return {
    messages: none(),
    questions: none(),
    greetings: none(),
    cheers: none(),
    purchases: none(),
    hearts: 0,
    discounts: 0,
  };
}
