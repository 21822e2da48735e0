import { expect } from 'bun:test';
import { CHAT_SAMPLE } from '../../../protocol/limits.ts';
import type { SealedBody } from '../../../server/realtime/feed/sealed-sql.ts';
import type { Sealing } from '../../../server/realtime/feed/sealing-sql.ts';

/** What a producer sends: an event of its own, or one of the two that join `chats`. */
export type Kind = 'custom' | 'purchase' | 'discount';

interface PlainStream {
  /** Acknowledged events that no sealing has told yet, in order. */
  waiting: { readonly kind: Kind; readonly number: number }[];
  /** The numbers of all acknowledged events that can be told apart; discounts are summed. */
  readonly acknowledged: number[];
  discounts: number;
  /** Hearts of viewers that no sealing has told yet. */
  hearts: number;
}

const decoder = new TextDecoder();

/** What must be true of the feed (I-1, I-2, F-14, C-9, C-10), kept as plainly as it can be. */
export class PlainFeed {
  /** The last interval that the database has sealed. */
  watermark = -1;
  /** How many viewers the first stream has. */
  audience = 0;
  private readonly streams: Map<string, PlainStream>;
  /** The bytes that were served first, by stream and interval. */
  private readonly served = new Map<string, { streamId: string; interval: number; body: string }>();

  constructor(streamIds: readonly string[]) {
    const none = { discounts: 0, hearts: 0 };
    this.streams = new Map(
      streamIds.map((streamId) => [streamId, { ...none, waiting: [], acknowledged: [] }]),
    );
  }

  /** An event of the producer's was acknowledged; `number` tells it from all others. */
  acknowledge(streamId: string, kind: Kind, number: number): void {
    const stream = this.streamOf(streamId);
    stream.waiting.push({ kind, number });
    if (kind === 'discount') stream.discounts += 1;
    else stream.acknowledged.push(number);
  }

  /** A viewer's hearts were acknowledged. */
  cheer(streamId: string, hearts: number): void {
    this.streamOf(streamId).hearts += hearts;
  }

  /** The process died: posts of viewers that were not sealed may be lost (C-11). */
  forgetHearts(): void {
    for (const stream of this.streams.values()) stream.hearts = 0;
  }

  /** Whether something that was acknowledged is not in the feed yet. */
  isWaiting(): boolean {
    return [...this.streams.values()].some(({ waiting, hearts }) => waiting.length + hearts > 0);
  }

  /** A sealing was committed: it holds what waited, in order, and nothing twice. */
  commit({ after, interval, transients }: Sealing, bodies: readonly SealedBody[]): void {
    expect(after).toBe(this.watermark);
    expect(interval).toBeGreaterThan(after);
    this.watermark = interval;
    for (const { viewCount } of transients) {
      if (viewCount) expect(viewCount.value).toBe(this.audience);
    }
    for (const [streamId, stream] of this.streams) {
      const told = contentOf(bodies.filter((sealed) => sealed.streamId === streamId));
      const numbersOf = (wanted: Kind) =>
        stream.waiting.filter(({ kind }) => kind === wanted).map(({ number }) => number);
      expect(told.custom).toEqual(numbersOf('custom'));
      expect(told.purchases).toEqual(numbersOf('purchase').slice(0, CHAT_SAMPLE));
      expect(told.discounts).toBe(numbersOf('discount').length);
      expect(told.hearts).toBeLessThanOrEqual(stream.hearts);
      stream.hearts -= told.hearts;
      const purchases = stream.waiting.filter(({ kind }) => kind === 'purchase');
      stream.waiting = purchases.slice(CHAT_SAMPLE);
    }
  }

  /** Somebody was served an interval: from now on these are its bytes. */
  serve(streamId: string, interval: number, bytes: Uint8Array): void {
    const key = `${streamId}:${interval}`;
    const body = decoder.decode(bytes);
    const first = this.served.get(key);
    if (!first) this.served.set(key, { streamId, interval, body });
    else if (first.body !== body) {
      expect({ interval, body }).toEqual({ interval, body: first.body });
    }
  }

  /** Every interval that was ever served. */
  allServed(): readonly { streamId: string; interval: number }[] {
    return [...this.served.values()];
  }

  /** Every acknowledged event is in the stored feed, once. */
  expectAllTold(stored: readonly SealedBody[]): void {
    for (const [streamId, { acknowledged, discounts, hearts }] of this.streams) {
      const told = contentOf(stored.filter((sealed) => sealed.streamId === streamId));
      const numbers = [...told.custom, ...told.purchases].sort((a, b) => a - b);
      expect(numbers).toEqual(acknowledged);
      expect(told.discounts).toBe(discounts);
      expect(hearts).toBe(0);
    }
  }

  private streamOf(streamId: string): PlainStream {
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
  const dataOf = <T>(wanted: string) =>
    events.filter(({ type }) => type === wanted).map(({ data }) => data as T);
  const chats = dataOf<Chats>('chats');
  return {
    custom: dataOf<{ number: number }>('custom').map(({ number }) => number),
    purchases: chats.flatMap(({ purchases }) => purchases.map(({ text }) => Number(text))),
    discounts: chats.reduce((sum, { discounts }) => sum + discounts, 0),
    hearts: chats.reduce((sum, { hearts }) => sum + hearts, 0),
  };
}
