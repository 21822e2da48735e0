import { CHAT_KINDS, type ChatElement, type ChatKind } from '../../../protocol/feed.ts';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import { type ChatPart, sumOfHearts } from './chat-part.ts';

/** The posts of one stream in the interval being filled, in bounded memory. */
export class ChatBuffer {
  readonly #random: () => number;
  #samples = emptySamples();
  #hearts = 0;

  /** @param random uniform from 0 to below 1; it decides which lines are kept. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Adds a line. The first 50 of a kind are kept; then each line so far is equally likely kept. */
  add(kind: ChatKind, element: ChatElement): void {
    const sample = this.#samples[kind];
    sample.arrived += 1;
    if (sample.kept.length === CHAT_SAMPLE) {
      // Vitter's algorithm R, but the new line goes to the end instead of the place that it empties,
      // which keeps the order of arrival. Which place is emptied is uniform in either case.
      const place = Math.floor(this.#random() * sample.arrived);
      if (place >= CHAT_SAMPLE) return;
      sample.kept.splice(place, 1);
    }
    sample.kept.push(element);
  }

  /** Adds hearts. The sum stops at the largest integer that a client can read exactly. */
  hearts(count: number): void {
    this.#hearts = sumOfHearts(this.#hearts, count);
  }

  /** Hands over what was posted, and starts anew. @returns null when that is nothing */
  take(): ChatPart | null {
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
