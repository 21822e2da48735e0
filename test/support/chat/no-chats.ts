import type { Chats } from '../../../protocol/feed.ts';

/** The data of a chat event without any content. */
export const NO_CHATS: Chats = {
  messages: [],
  questions: [],
  greetings: [],
  cheers: [],
  purchases: [],
  hearts: 0,
  discounts: 0,
};
