import { z } from 'zod';
import { CHAT_KINDS, type ChatKind, chatElementSchema } from '../../../protocol/feed.ts';
import type { ViewerChats } from '../../realtime/feed/interval-body.ts';
import { type Candidate, newCandidate, selectMessages } from './message-selection.ts';

/** The posts of one stream on one node. */
export interface ChatSamples {
  /** A selection, in the order of arrival. */
  readonly messages: readonly Candidate[];
  readonly hearts: number;
}

/** The posts of all streams on one node. */
export type NodeChats = readonly (readonly [streamId: string, part: ChatSamples])[];

// Between nodes messages are in arrays by kind. Older versions send and read `arrived`, the
// number of messages of which `kept` is a sample, and neither ranks nor clients, or no ranks of clients.
const messagesSchema = z
  .object({
    arrived: z.int().min(0),
    kept: z.array(chatElementSchema),
    ranks: z.array(z.number()).default([]),
    clients: z.array(z.int()).default([]),
    clientRanks: z.array(z.number()).default([]),
  })
  .default({ arrived: 0, kept: [], ranks: [], clients: [], clientRanks: [] });

type KindMessages = z.infer<typeof messagesSchema>;

const nodeChatsSchema = z.array(
  z.tuple([
    z.string(),
    z.object({
      lines: z.object({
        message: messagesSchema,
        question: messagesSchema,
        greeting: messagesSchema,
        cheer: messagesSchema,
      } satisfies Record<ChatKind, unknown>),
      hearts: z.int().min(0).default(0),
    }),
  ]),
);

/** The posts of a stream on one node as JSON, an element of the batch for the sealing node. */
export function serializeChats(streamId: string, { messages, hearts }: ChatSamples): string {
  const byKind = Map.groupBy(messages, ({ kind }) => kind);
  const lines = Object.fromEntries(
    [...byKind].map(([kind, candidates]): [ChatKind, KindMessages] => [
      kind,
      {
        arrived: candidates.length,
        kept: candidates.map(({ element }) => element),
        ranks: candidates.map(({ rank }) => rank),
        clients: candidates.map(({ client }) => client),
        clientRanks: candidates.map(({ clientRank }) => clientRank),
      },
    ]),
  );
  return JSON.stringify([streamId, { lines, hearts }]);
}

const decoder = new TextDecoder();

/**
 * Parses the posts from a node, whose version may know fewer or more kinds.
 * @param random uniform from 0 to below 1: ranks that the node did not send
 * @returns null when they are invalid; the sealer then skips them, as they would recur with every interval
 */
export function parseNodeChats(bytes: Uint8Array, random: () => number): NodeChats | null {
  try {
    const streams = nodeChatsSchema.parse(JSON.parse(decoder.decode(bytes)));
    return streams.map(([streamId, { lines, hearts }]) => {
      const messages = CHAT_KINDS.flatMap((kind) => candidatesOf(kind, lines[kind], random));
      return [streamId, { messages, hearts }];
    });
  } catch {
    return null;
  }
}

function candidatesOf(
  kind: ChatKind,
  { kept, ranks, clients, clientRanks }: KindMessages,
  random: () => number,
): Candidate[] {
  return kept.map((element, index) =>
    newCandidate({
      kind,
      element,
      rank: ranks[index] ?? random(),
      client: clients[index] ?? 0,
      clientRank: clientRanks[index] ?? random(),
    }),
  );
}

/** Adds numbers of hearts, up to the largest integer that a client can read exactly. */
export function addHearts(a: number, b: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, a + b);
}

/** The chats of an interval from the posts on one node. */
export function chatsFromSamples({ messages, hearts }: ChatSamples): ViewerChats {
  const ofKind = (kind: ChatKind) =>
    messages.filter((message) => message.kind === kind).map(({ element }) => element);
  return {
    messages: ofKind('message'),
    questions: ofKind('question'),
    greetings: ofKind('greeting'),
    cheers: ofKind('cheer'),
    hearts,
  };
}

/** Merges the posts on several nodes to the chats of an interval (C-8), in the order of their times. */
export function mergeChats(parts: readonly ChatSamples[]): ViewerChats {
  const selected = selectMessages(parts.flatMap(({ messages }) => messages));
  return chatsFromSamples({
    messages: selected.toSorted((a, b) => a.element.at - b.element.at),
    hearts: parts.reduce((sum, { hearts }) => addHearts(sum, hearts), 0),
  });
}
