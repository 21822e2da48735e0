import { CHAT_BYTES } from '../../../protocol/limits.ts';
import type { ChatSamples } from './chat-samples.ts';
import type { Candidate } from './message-selection.ts';

/**
 * Limits each client to 32 KB of messages over all streams (C-8). Messages beyond it are dropped at random. A
 * client may be the NAT of a carrier, whose viewers watch many shows.
 * @returns the posts of the streams that still have any
 */
export function limitClients(
  streams: ReadonlyMap<string, ChatSamples>,
): ReadonlyMap<string, ChatSamples> {
  const excess = excessOf([...streams.values()].flatMap(({ messages }) => messages));
  if (excess.size === 0) return streams;
  const limited = [...streams].map(([streamId, { messages, hearts }]) => {
    const samples = { messages: messages.filter((message) => !excess.has(message)), hearts };
    return [streamId, samples] as const;
  });
  return new Map(limited.filter(([, { messages, hearts }]) => messages.length > 0 || hearts > 0));
}

/** The messages beyond the limit of their client. */
function excessOf(messages: readonly Candidate[]): Set<Candidate> {
  const excess = new Set<Candidate>();
  for (const ofClient of Map.groupBy(messages, ({ client }) => client).values()) {
    let total = ofClient.reduce((sum, { bytes }) => sum + bytes, 0);
    if (total <= CHAT_BYTES) continue;
    for (const message of ofClient.toSorted((a, b) => b.rank - a.rank)) {
      if (total <= CHAT_BYTES) break;
      excess.add(message);
      total -= message.bytes;
    }
  }
  return excess;
}
