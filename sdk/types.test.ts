import { expect, test } from 'bun:test';
import type * as feed from '../protocol/feed.ts';
import type * as moderation from '../protocol/moderation.ts';
import type * as products from '../protocol/products.ts';
import type * as quizzes from '../protocol/quizzes.ts';
import type * as streams from '../protocol/streams.ts';
import type * as counts from '../protocol/view-counts.ts';
import type { ChatPost } from './api-client.ts';
import type * as sdk from './types.ts';

/** T, deeply readonly like all types of the SDK. */
type Fixed<T> = T extends readonly (infer Item)[]
  ? readonly Fixed<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Fixed<T[Key]> }
    : T;

/** True when both are the same type; assignability is not enough. */
type Same<A, B> =
  (<T>() => T extends Fixed<A> ? 1 : 2) extends <T>() => T extends Fixed<B> ? 1 : 2 ? true : false;

type DataOf<T> = Extract<feed.FeedEvent, { type: T }>['data'];

/** For each type of the SDK, whether it equals that of the protocol. */
interface ProtocolEquality {
  readonly viewCount: Same<counts.ViewCount, sdk.ViewCount>;
  readonly chatMessage: Same<feed.ChatElement, sdk.ChatMessage>;
  readonly chats: Same<feed.Chats, sdk.Chats>;
  readonly chatKind: Same<feed.ChatKind, sdk.ChatKind>;
  readonly chatPost: Same<feed.ChatPost, ChatPost>;
  readonly quiz: Same<quizzes.Quiz, sdk.Quiz>;
  readonly quizResults: Same<quizzes.QuizResults, sdk.QuizResults>;
  readonly stream: Same<streams.Stream, sdk.Stream>;
  readonly product: Same<products.ShownProduct, sdk.Product>;
  readonly streamChat: Same<moderation.ViewerChat, sdk.ChatState>;
  readonly eventTypes: Same<(typeof feed.EVENT_TYPES)[number], keyof sdk.EventData>;
  readonly eventData: Same<{ [T in keyof sdk.EventData]: DataOf<T> }, sdk.EventData>;
  /** Only assignable: the SDK also accepts producer events, which may have any type. */
  readonly interval: feed.EventsInterval extends sdk.EventsInterval ? true : false;
}

/** Names of the types that differ. */
type Differing = {
  [Name in keyof ProtocolEquality]: ProtocolEquality[Name] extends true ? never : Name;
}[keyof ProtocolEquality];

test('the types of the SDK equal those of the protocol', () => {
  // Does not compile when one differs.
  const areEqual: [Differing] extends [never] ? true : Differing = true;
  expect(areEqual).toBe(true);
});

test('types that differ are detected', () => {
  const differ: [Same<{ a: 1 }, { a: 1; b?: 2 }>, Same<string, 'a'>, Same<number, unknown>] = [
    false,
    false,
    false,
  ];
  expect(differ).not.toContain(true as never);
});
