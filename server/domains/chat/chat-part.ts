import { z } from 'zod';
import {
  CHAT_KINDS,
  type ChatElement,
  type ChatKind,
  chatElementSchema,
} from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import type { ViewerChats } from '../../realtime/feed/interval-body.ts';

/** Lines of one kind: how many arrived, and a fair sample of them, in the order of arrival. */
export interface LineSample {
  readonly arrived: number;
  readonly kept: readonly ChatElement[];
}

/** What one node heard in a stream: samples that know of how many they are, so that they can be merged. */
export interface ChatPart {
  readonly lines: Readonly<Record<ChatKind, LineSample>>;
  readonly hearts: number;
}

const lineSampleSchema = z
  .object({ arrived: z.int().min(0), kept: z.array(chatElementSchema) })
  .default({ arrived: 0, kept: [] });

const nodeChatsSchema = z.array(
  z.tuple([
    z.string(),
    z.object({
      lines: z.object({
        message: lineSampleSchema,
        question: lineSampleSchema,
        greeting: lineSampleSchema,
        cheer: lineSampleSchema,
      } satisfies Record<ChatKind, unknown>),
      hearts: z.int().min(0).default(0),
    }),
  ]),
);

/** What one node heard in its streams, on its way to the node that seals. */
export type NodeChats = readonly (readonly [streamId: string, part: ChatPart])[];

const decoder = new TextDecoder();

/**
 * Reads what a node handed over. A node of another version may know fewer kinds, or more.
 * @returns null when it cannot be read: whoever seals goes on without it, for it would come again
 *   with every interval
 */
export function readNodeChats(bytes: Uint8Array): NodeChats | null {
  try {
    return nodeChatsSchema.parse(JSON.parse(decoder.decode(bytes)));
  } catch {
    return null;
  }
}

/** Sums of hearts stop at the largest integer that a client can read exactly. */
export function sumOfHearts(a: number, b: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, a + b);
}

/** What goes into the feed from one node alone. */
export function chatsOf({ lines, hearts }: ChatPart): ViewerChats {
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
 * One fair sample of what several nodes heard: of each kind every line that arrived anywhere has
 * the same chance to be in, as if all had come to one node (C-8). Lines stand by their time.
 * @param random uniform from 0 to below 1
 */
export function mergeChats(parts: readonly ChatPart[], random: () => number): ViewerChats {
  const lines = Object.fromEntries(
    CHAT_KINDS.map((kind) => [
      kind,
      merged(
        parts.map((part) => part.lines[kind]),
        random,
      ),
    ]),
  ) as Record<ChatKind, LineSample>;
  return chatsOf({ lines, hearts: parts.reduce((sum, { hearts }) => sumOfHearts(sum, hearts), 0) });
}

function merged(samples: readonly LineSample[], random: () => number): LineSample {
  const arrived = samples.reduce((sum, sample) => sum + sample.arrived, 0);
  const kept = samples.flatMap((sample) => sample.kept);
  if (arrived <= CHAT_SAMPLE) return { arrived, kept: byTime(kept) };
  return { arrived, kept: byTime(drawn(samples, arrived, random)) };
}

// Draws 50 of all lines without putting any back: which sample the next one is of goes by how many
// of each are left. Within a sample every line that is left is as good as one that was not kept.
function drawn(
  samples: readonly LineSample[],
  arrived: number,
  random: () => number,
): ChatElement[] {
  const left = samples.map((sample) => ({ arrived: sample.arrived, kept: [...sample.kept] }));
  const chosen = new Set<ChatElement>();
  for (let remaining = arrived; chosen.size < CHAT_SAMPLE; remaining--) {
    let place = Math.floor(random() * remaining);
    const sample = left.find((one) => {
      if (place < one.arrived) return true;
      place -= one.arrived;
      return false;
    });
    if (!sample) break;
    sample.arrived -= 1;
    const [line] = sample.kept.splice(Math.floor(random() * sample.kept.length), 1);
    if (line) chosen.add(line);
  }
  // As they stand in their sample: the time does not tell the order of two in one millisecond.
  return samples.flatMap((sample) => sample.kept.filter((line) => chosen.has(line)));
}

function byTime(lines: readonly ChatElement[]): ChatElement[] {
  return lines.toSorted((a, b) => a.at - b.at);
}
