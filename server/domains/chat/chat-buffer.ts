import { CHAT_KINDS, type ChatElement, type ChatKind } from '../../../protocol/feed.ts';
import { CHAT_BYTES, CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { addHearts, type ChatSamples } from './chat-samples.ts';
import { type Candidate, newCandidate, selectMessages } from './message-selection.ts';

/** Twice what an interval can take, so that a selection is paid for by as many messages. */
const CANDIDATES_MAX = 2 * CHAT_KINDS.length * CHAT_SAMPLE;
/** The same in bytes: while sealing was stalled, 399 messages of 280 emoji took 0.6 MB of a stream. */
const CANDIDATE_BYTES_MAX = 2 * CHAT_BYTES;

/** The posts of one stream in the interval being filled, in bounded memory. */
export class ChatBuffer {
  #candidates: Candidate[] = [];
  #candidateBytes = 0;
  #hearts = 0;
  /** Seed of the ranks of clients, which stay the same when the buffer selects messages. */
  readonly #seed: number;

  /** @param random uniform from 0 to below 1; it decides which messages are selected */
  constructor(private readonly random: () => number) {
    this.#seed = Math.floor(random() * 2 ** 32);
  }

  /** Adds a message. @param client the client that posted it, by `clientKey` */
  add(kind: ChatKind, element: ChatElement, client: string): void {
    const candidate = newCandidate({
      kind,
      element,
      rank: this.random(),
      client: Bun.hash.crc32(client),
      clientRank: Bun.hash.xxHash32(client, this.#seed) / 2 ** 32,
    });
    const isFull =
      this.#candidates.length === CANDIDATES_MAX ||
      this.#candidateBytes + candidate.bytes > CANDIDATE_BYTES_MAX;
    if (isFull) {
      this.#candidates = selectMessages(this.#candidates);
      this.#candidateBytes = this.#candidates.reduce((sum, { bytes }) => sum + bytes, 0);
    }
    this.#candidates.push(candidate);
    this.#candidateBytes += candidate.bytes;
  }

  /** Adds hearts, up to the largest integer that a client can read exactly. */
  addHearts(count: number): void {
    this.#hearts = addHearts(this.#hearts, count);
  }

  /** Returns the posts so far and empties the buffer. @returns null when there are none */
  take(): ChatSamples | null {
    const messages = selectMessages(this.#candidates);
    const hearts = this.#hearts;
    if (hearts === 0 && messages.length === 0) return null;
    this.#candidates = [];
    this.#candidateBytes = 0;
    this.#hearts = 0;
    return { messages, hearts };
  }
}
