import { CHAT_KINDS, type ChatElement, type ChatKind } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { addHearts, type ChatSamples } from './chat-samples.ts';

/** The posts of one stream in the interval being filled, in bounded memory. */
export class ChatBuffer {
  #samples = emptySamples();
  #hearts = 0;

  /** @param random uniform from 0 to below 1; it decides which messages stay in the sample */
  constructor(private readonly random: () => number) {}

  /** Adds a message. Beyond 50 of a kind, each message so far is in the sample with equal probability. */
  add(kind: ChatKind, element: ChatElement): void {
    const sample = this.#samples[kind];
    sample.arrived += 1;
    if (sample.kept.length === CHAT_SAMPLE) {
      // Vitter's algorithm R, except that the new message goes to the end instead of the freed index,
      // which keeps the order of arrival. The freed index is uniform either way.
      const index = Math.floor(this.random() * sample.arrived);
      if (index >= CHAT_SAMPLE) return;
      sample.kept.splice(index, 1);
    }
    sample.kept.push(element);
  }

  /** Adds hearts, up to the largest integer that a client can read exactly. */
  addHearts(count: number): void {
    this.#hearts = addHearts(this.#hearts, count);
  }

  /** Returns the posts so far and empties the buffer. @returns null when there are none */
  take(): ChatSamples | null {
    const lines = this.#samples;
    const hearts = this.#hearts;
    if (hearts === 0 && CHAT_KINDS.every((kind) => lines[kind].arrived === 0)) return null;
    this.#samples = emptySamples();
    this.#hearts = 0;
    return { lines, hearts };
  }
}

interface Sample {
  /** In the order of arrival. */
  kept: ChatElement[];
  arrived: number;
}

function emptySamples(): Record<ChatKind, Sample> {
  const empty = (): Sample => ({ kept: [], arrived: 0 });
  return { message: empty(), question: empty(), greeting: empty(), cheer: empty() };
}
