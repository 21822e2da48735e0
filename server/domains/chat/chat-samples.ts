import { z } from 'zod';
import {
  CHAT_KINDS,
  type ChatElement,
  type ChatKind,
  chatElementSchema,
} from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import type { ViewerChats } from '../../realtime/feed/interval-body.ts';

/**
 * The messages of one kind: the number that arrived, and a fair sample of them in the order of arrival.
 * Field names are part of the format between nodes.
 */
export interface MessageSample {
  readonly arrived: number;
  readonly kept: readonly ChatElement[];
}

/** The posts of one stream on one node. Samples carry the number of arrivals, so that nodes' samples can be merged. */
export interface ChatSamples {
  readonly lines: Readonly<Record<ChatKind, MessageSample>>;
  readonly hearts: number;
}

const messageSampleSchema = z
  .object({ arrived: z.int().min(0), kept: z.array(chatElementSchema) })
  .default({ arrived: 0, kept: [] });

const nodeChatsSchema = z.array(
  z.tuple([
    z.string(),
    z.object({
      lines: z.object({
        message: messageSampleSchema,
        question: messageSampleSchema,
        greeting: messageSampleSchema,
        cheer: messageSampleSchema,
      } satisfies Record<ChatKind, unknown>),
      hearts: z.int().min(0).default(0),
    }),
  ]),
);

/** The posts of all streams on one node, as sent to the sealing node. */
export type NodeChats = readonly (readonly [streamId: string, part: ChatSamples])[];

const decoder = new TextDecoder();

/**
 * Parses the posts from a node, whose version may know fewer or more kinds.
 * @returns null when they are invalid; the sealer then skips them, as they would recur with every interval
 */
export function parseNodeChats(bytes: Uint8Array): NodeChats | null {
  try {
    return nodeChatsSchema.parse(JSON.parse(decoder.decode(bytes)));
  } catch {
    return null;
  }
}

/** Adds numbers of hearts, up to the largest integer that a client can read exactly. */
export function addHearts(a: number, b: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, a + b);
}

/** The chats of an interval from the samples of one node, or from merged samples. */
export function chatsFromSamples({ lines, hearts }: ChatSamples): ViewerChats {
  const kept = (kind: ChatKind) => [...lines[kind].kept];
  return {
    messages: kept('message'),
    questions: kept('question'),
    greetings: kept('greeting'),
    cheers: kept('cheer'),
    hearts,
  };
}

/**
 * Merges the samples of several nodes to the chats of an interval: each message that arrived on any node
 * is in the result with equal probability (C-8). Messages are in the order of their times.
 * @param random uniform from 0 to below 1
 */
export function mergeChats(parts: readonly ChatSamples[], random: () => number): ViewerChats {
  const lines = Object.fromEntries(
    CHAT_KINDS.map((kind) => [
      kind,
      mergeSamples(
        parts.map((part) => part.lines[kind]),
        random,
      ),
    ]),
  ) as Record<ChatKind, MessageSample>;
  return chatsFromSamples({
    lines,
    hearts: parts.reduce((sum, { hearts }) => addHearts(sum, hearts), 0),
  });
}

function mergeSamples(samples: readonly MessageSample[], random: () => number): MessageSample {
  const arrived = samples.reduce((sum, sample) => sum + sample.arrived, 0);
  const kept = samples.flatMap((sample) => sample.kept);
  if (arrived <= CHAT_SAMPLE) return { arrived, kept: sortByTime(kept) };
  return { arrived, kept: sortByTime(drawMessages(samples, arrived, random)) };
}

// Draws 50 of all arrived messages without replacement. The sample to draw from is chosen in proportion to
// its remaining arrivals; within a sample, each message stands for those that were not kept.
function drawMessages(
  samples: readonly MessageSample[],
  arrived: number,
  random: () => number,
): ChatElement[] {
  const pools = samples.map((sample) => ({ arrived: sample.arrived, kept: [...sample.kept] }));
  const chosen = new Set<ChatElement>();
  for (let remaining = arrived; chosen.size < CHAT_SAMPLE; remaining--) {
    let offset = Math.floor(random() * remaining);
    const sample = pools.find(({ arrived: poolSize }) => {
      if (offset < poolSize) return true;
      offset -= poolSize;
      return false;
    });
    if (!sample) break;
    sample.arrived -= 1;
    const [message] = sample.kept.splice(Math.floor(random() * sample.kept.length), 1);
    if (message) chosen.add(message);
  }
  // In the order of their samples, because messages of one millisecond have equal times.
  return samples.flatMap((sample) => sample.kept.filter((message) => chosen.has(message)));
}

function sortByTime(messages: readonly ChatElement[]): ChatElement[] {
  return messages.toSorted((a, b) => a.at - b.at);
}
