import { expect } from 'bun:test';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import type { SealedBody } from '../../../server/realtime/feed/sealed-sql.ts';
import {
  EVENT_OVERHEAD_BYTES,
  STREAM_EVENT_BYTES,
} from '../../../server/realtime/feed/sealing-limits.ts';
import type { Sealing } from '../../../server/realtime/feed/sealing-sql.ts';

/** What a producer sends: an event of its own, or one of the two that join `chats`. */
export type EventKind = 'custom' | 'purchase' | 'discount';

interface StreamModel {
  /** Acknowledged events that are not published, in order. */
  waiting: { readonly kind: EventKind; readonly number: number }[];
  /** Numbers of all acknowledged events; discounts, which are summed, have none. */
  readonly acknowledged: number[];
  discounts: number;
  /** Hearts of viewers that are not published. */
  hearts: number;
}

/** An interval of a stream has room for this number of the model's small events; more may wait. */
const FITTING = 450;
/** An interval of a stream never has room for this number of events. */
const TOO_MANY = STREAM_EVENT_BYTES / EVENT_OVERHEAD_BYTES;

const decoder = new TextDecoder();

/** A simple model of the feed: what must be true of it (I-1, I-2, F-14, F-15, C-9, C-10). */
export class FeedModel {
  /** The newest sealed interval. */
  watermark = -1;
  /** Number of viewers of the first stream. */
  audience = 0;
  private readonly streams: Map<string, StreamModel>;
  /** The bytes that were served first, by stream and interval. */
  private readonly served = new Map<string, { streamId: string; interval: number; body: string }>();

  constructor(streamIds: readonly string[]) {
    const none = { discounts: 0, hearts: 0 };
    this.streams = new Map(
      streamIds.map((streamId) => [streamId, { ...none, waiting: [], acknowledged: [] }]),
    );
  }

  /** The service acknowledged a producer event. @param number identifies it */
  acknowledge(streamId: string, kind: EventKind, number: number): void {
    const stream = this.streamOf(streamId);
    stream.waiting.push({ kind, number });
    if (kind === 'discount') stream.discounts += 1;
    else stream.acknowledged.push(number);
  }

  /** The service acknowledged hearts of a viewer. */
  acknowledgeHearts(streamId: string, hearts: number): void {
    this.streamOf(streamId).hearts += hearts;
  }

  /** The process crashed: unsealed posts of viewers may be lost (C-11). */
  forgetHearts(): void {
    for (const stream of this.streams.values()) stream.hearts = 0;
  }

  /** Whether acknowledged events or hearts are not published. */
  isWaiting(): boolean {
    return [...this.streams.values()].some(({ waiting, hearts }) => waiting.length + hearts > 0);
  }

  /** Checks a committed sealing: it contains what waited, in order, and nothing twice. */
  commit({ after, interval, transients }: Sealing, bodies: readonly SealedBody[]): void {
    expect(after).toBe(this.watermark);
    expect(interval).toBeGreaterThan(after);
    this.watermark = interval;
    for (const { viewCount } of transients) {
      if (viewCount) expect(viewCount.value).toBe(this.audience);
    }
    for (const [streamId, stream] of this.streams) {
      const content = contentOf(bodies.filter((sealed) => sealed.streamId === streamId));
      const purchases = stream.waiting.filter(({ kind }) => kind === 'purchase');
      const later = new Set(purchases.slice(CHAT_SAMPLE));
      const candidates = stream.waiting.filter((event) => !later.has(event));
      const count = content.custom.length + content.purchases.length + content.discounts;
      expect(count).toBeWithin(Math.min(candidates.length, FITTING), TOO_MANY);
      const taken = candidates.slice(0, count);
      const numbersOf = (kind: EventKind) =>
        taken.filter((event) => event.kind === kind).map(({ number }) => number);
      expect(content.custom).toEqual(numbersOf('custom'));
      expect(content.purchases).toEqual(numbersOf('purchase'));
      expect(content.discounts).toBe(numbersOf('discount').length);
      expect(content.hearts).toBeLessThanOrEqual(stream.hearts);
      stream.hearts -= content.hearts;
      stream.waiting = stream.waiting.filter((event) => !taken.includes(event));
    }
  }

  /** Checks a served interval: its bytes are those of the first time. */
  serve(streamId: string, interval: number, bytes: Uint8Array): void {
    const key = `${streamId}:${interval}`;
    const body = decoder.decode(bytes);
    const first = this.served.get(key);
    if (!first) this.served.set(key, { streamId, interval, body });
    else if (first.body !== body) {
      expect({ interval, body }).toEqual({ interval, body: first.body });
    }
  }

  /** All intervals that were ever served. */
  servedIntervals(): readonly { streamId: string; interval: number }[] {
    return [...this.served.values()];
  }

  /** Checks that the stored feed contains every acknowledged event once. */
  expectAllPublished(stored: readonly SealedBody[]): void {
    for (const [streamId, { acknowledged, discounts, hearts }] of this.streams) {
      const content = contentOf(stored.filter((sealed) => sealed.streamId === streamId));
      const numbers = [...content.custom, ...content.purchases].sort((a, b) => a - b);
      expect(numbers).toEqual(acknowledged);
      expect(content.discounts).toBe(discounts);
      expect(hearts).toBe(0);
    }
  }

  private streamOf(streamId: string): StreamModel {
    const stream = this.streams.get(streamId);
    if (!stream) throw new Error(`there is no stream ${streamId}`);
    return stream;
  }
}

interface Chats {
  readonly purchases: { readonly text: string }[];
  readonly hearts: number;
  readonly discounts: number;
}

function contentOf(bodies: readonly SealedBody[]) {
  const events = bodies.flatMap(
    ({ body }): { type: string; data: unknown }[] => JSON.parse(body).events,
  );
  const dataOf = <T>(type: string) =>
    events.filter((event) => event.type === type).map(({ data }) => data as T);
  const chats = dataOf<Chats>('chats');
  return {
    custom: dataOf<{ number: number }>('custom').map(({ number }) => number),
    purchases: chats.flatMap(({ purchases }) => purchases.map(({ text }) => Number(text))),
    discounts: chats.reduce((sum, { discounts }) => sum + discounts, 0),
    hearts: chats.reduce((sum, { hearts }) => sum + hearts, 0),
  };
}
