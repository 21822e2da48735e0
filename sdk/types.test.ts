import { expect, test } from 'bun:test';
import type * as feed from '../protocol/feed.ts';
import type * as moderation from '../protocol/moderation.ts';
import type * as quizzes from '../protocol/quizzes.ts';
import type * as streams from '../protocol/streams.ts';
import type * as counts from '../protocol/view-counts.ts';
import type { ChatPost } from './api-client.ts';
import type * as sdk from './types.ts';

/** What the SDK gives cannot be changed. */
type Fixed<T> = T extends readonly (infer Item)[]
  ? readonly Fixed<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Fixed<T[Key]> }
    : T;

/** True when the two are the same type, and not merely one of them a part of the other. */
type Same<A, B> =
  (<T>() => T extends Fixed<A> ? 1 : 2) extends <T>() => T extends Fixed<B> ? 1 : 2 ? true : false;

type DataOf<T> = Extract<feed.FeedEvent, { type: T }>['data'];

/** The compiler refuses any of these that is not so. */
interface AsInTheProtocol {
  readonly viewCount: Same<counts.ViewCount, sdk.ViewCount>;
  readonly chatLine: Same<feed.ChatElement, sdk.ChatMessage>;
  readonly chats: Same<feed.Chats, sdk.Chats>;
  readonly chatKind: Same<feed.ChatKind, sdk.ChatKind>;
  readonly chatPost: Same<feed.ChatPost, ChatPost>;
  readonly quiz: Same<quizzes.Quiz, sdk.Quiz>;
  readonly quizResults: Same<quizzes.QuizResults, sdk.QuizResults>;
  readonly stream: Same<streams.Stream, sdk.Stream>;
  readonly streamChat: Same<moderation.ViewerChat, sdk.ChatState>;
  readonly eventTypes: Same<(typeof feed.EVENT_TYPES)[number], keyof sdk.EventData>;
  readonly eventData: Same<{ [T in keyof sdk.EventData]: DataOf<T> }, sdk.EventData>;
  /** A producer's own events have any type, so that of the SDK is the wider one. */
  readonly interval: feed.EventsInterval extends sdk.EventsInterval ? true : false;
}

test('the SDK tells what the protocol tells', () => {
  const so: AsInTheProtocol = {
    viewCount: true,
    chatLine: true,
    chats: true,
    chatKind: true,
    chatPost: true,
    quiz: true,
    quizResults: true,
    stream: true,
    streamChat: true,
    eventTypes: true,
    eventData: true,
    interval: true,
  };
  expect(Object.values(so)).not.toContain(false as never);
});

test('two types that differ are told apart', () => {
  const differ: [Same<{ a: 1 }, { a: 1; b?: 2 }>, Same<string, 'a'>, Same<number, unknown>] = [
    false,
    false,
    false,
  ];
  expect(differ).not.toContain(true as never);
});
