import { expect } from 'bun:test';
import type { ChatElement, ChatKind, Chats } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import type { PostedMessage } from '../../../server/domains/chat/chat-source.ts';

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

/** A chat message. @param at when it was posted, Unix ms */
export const chatMessage = (id: string, at = 1): ChatElement => {
  return { id, viewer: 'viewer', name: 'Ann', text: 'Hi', at };
};

/** A message as it arrived. @param client the rate limit key of the client that posted it */
export const postedMessage = (
  kind: ChatKind,
  element: ChatElement,
  client = '192.0.2.1',
): PostedMessage => {
  return { kind, element, client };
};

/**
 * Expects that samples of `CHAT_SAMPLE` messages choose all messages with equal probability.
 * @param takeSample the indices of the messages in a new sample
 */
export function expectFairSamples(
  messageCount: number,
  sampleCount: number,
  takeSample: () => readonly number[],
): void {
  const timesSampled = new Array<number>(messageCount).fill(0);
  for (let round = 0; round < sampleCount; round++) {
    for (const index of takeSample()) timesSampled[index] = (timesSampled[index] ?? 0) + 1;
  }
  // Chi-square over the messages; a fair sample practically never exceeds six standard deviations.
  const chance = CHAT_SAMPLE / messageCount;
  const expected = sampleCount * chance;
  const variance = expected * (1 - chance);
  const deviations = timesSampled.map((times) => times - expected);
  const chiSquare = deviations.reduce((sum, deviation) => sum + deviation ** 2 / variance, 0);
  expect(chiSquare).toBeLessThan(messageCount + 6 * Math.sqrt(2 * messageCount));
  // No single message, such as the first or the last, may stand out either.
  const largestDeviation = Math.max(...deviations.map(Math.abs));
  expect(largestDeviation).toBeLessThan(6 * Math.sqrt(variance));
}
