import { expect } from 'bun:test';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { ProducerEvent } from '../../../protocol/studio.ts';
import type { ChatSource } from '../../../server/domains/chat/chat-source.ts';
import { createMemoryChatSource } from '../../../server/domains/chat/chat-source-memory.ts';
import { type Clock, createClock } from '../../../server/platform/clock.ts';
import { MemoryFeedLog } from '../../../server/realtime/feed/feed-log-memory.ts';
import { Sealer, TransientBuffer } from '../../../server/realtime/feed/sealer.ts';
import type { Sealing, SealOutcome } from '../../../server/realtime/feed/sealing-sql.ts';
import { ViewCountEvents } from '../../../server/realtime/presence/view-count-events.ts';
import { openShow, PRODUCER, SHOW_START_MS, type Show, uuidOf } from '../streams/show-fixture.ts';
import { type EventKind, FeedModel } from './feed-model.ts';

export const STREAMS = [uuidOf(1), uuidOf(2)];

/** Newest intervals that the reader reads after each step, per stream. */
const NEWEST_READ = 6;

// At most 60 steps of 260 purchases, 50 per sealing. Posts that came while sealing failed are in the
// sealing after the next, or one later when the clock was stepped back.
const SEALINGS_AT_END_MAX = 320;

/** A fault of the database during a sealing. */
export type SealingFault = 'none' | 'fails' | 'reply lost' | 'reply lost, then unreadable';

/** The parts that a restart replaces. */
interface Service {
  readonly clock: Clock;
  readonly log: MemoryFeedLog;
  readonly sealer: Sealer;
  readonly chat: ChatSource;
}

/**
 * The sealing of one process on a real database, with a fake machine, a producer, viewers and a reader.
 * `model` says what must be true of the feed.
 */
export class ModelSystem {
  readonly model = new FeedModel(STREAMS);
  private fault: SealingFault = 'none';
  private systemMs = SHOW_START_MS;
  private monotonicMs = 5_000;
  private nextNumber = 1;
  private sealedTo = -1;
  /** The newest interval that the listener of each stream received. */
  private readonly received = new Map<string, number>();
  /** The first failed check in a callback: thrown there, it would look like a database failure. */
  private violation: unknown = null;
  private service: Service;

  private constructor(private readonly show: Show) {
    this.service = this.start(-1);
  }

  static async open(): Promise<ModelSystem> {
    return new ModelSystem(await openShow(STREAMS));
  }

  close(): Promise<void> {
    return this.show.close();
  }

  /** Advances both clocks of the machine. */
  pass(ms: number): void {
    this.systemMs += ms;
    this.monotonicMs += ms;
    this.nowMs();
  }

  /** Steps the system clock. */
  step(ms: number): void {
    this.systemMs += ms;
  }

  /** Sets the number of viewers of the first stream. */
  setAudience(viewers: number): void {
    this.model.audience = viewers;
  }

  /** The producer sends an event, and repeats it when `isRetried`. */
  async produce(streamId: string, kind: EventKind, isRetried: boolean): Promise<void> {
    const { store } = this.show;
    const number = this.nextNumber++;
    const nowMs = this.nowMs();
    const input = { streamId, producer: PRODUCER, event: eventOf(kind, number), nowMs };
    const once = { owner: PRODUCER, key: `${number}`, fingerprint: '', nowMs };
    const first = await store.recordProducerEvent(input, once);
    if (isRetried) expect(await store.recordProducerEvent(input, once)).toEqual(first);
    this.model.acknowledge(streamId, kind, number);
  }

  /** A viewer posts hearts. */
  sendHearts(streamId: string, hearts: number): void {
    this.service.chat.hearts(streamId, hearts);
    this.model.acknowledgeHearts(streamId, hearts);
  }

  /** The interval timer fires twice at once; the second sealing joins the first. */
  async seal(fault: SealingFault): Promise<void> {
    this.fault = fault;
    await Promise.all([this.service.sealer.seal(), this.service.sealer.seal()]);
    this.fault = 'none';
  }

  /** The process crashes, loses its memory and restarts on the same directory. */
  async restart(): Promise<void> {
    await this.show.restart();
    const watermark = await this.show.store.readWatermark({});
    this.model.forgetHearts();
    this.service = this.start(watermark);
    expect(this.nowMs()).toBeGreaterThanOrEqual(intervalStartMs(watermark + 1));
  }

  /** Reads an interval that is not sealed yet; the body must be what every reader gets. */
  waitAhead(streamId: string, ahead: number): void {
    const interval = this.service.log.watermark() + ahead;
    const pending = this.service.log.read(streamId, interval) as Promise<Uint8Array>;
    void pending.then((body) => this.check(() => this.model.serve(streamId, interval, body)));
  }

  /** Reads and checks the newest intervals, the one `old` back, and all that were ever served. */
  async readAll(old: number): Promise<void> {
    const { model } = this;
    const { log } = this.service;
    if (this.violation) throw this.violation;
    expect(await this.show.store.readWatermark({})).toBe(model.watermark);
    expect(intervalAt(this.nowMs())).toBeGreaterThan(model.watermark);
    expect(log.watermark()).toBeLessThanOrEqual(model.watermark);
    expect(log.watermark()).toBeGreaterThanOrEqual(this.sealedTo);
    this.sealedTo = log.watermark();
    for (const interval of this.received.values()) expect(interval).toBe(this.sealedTo);
    if (this.sealedTo < 0) return;
    const intervals = [old, ...Array(NEWEST_READ).keys()].map((back) => this.sealedTo - back);
    for (const streamId of STREAMS) {
      for (const interval of intervals) {
        model.serve(streamId, interval, await log.read(streamId, interval));
      }
    }
    for (const { streamId, interval } of model.servedIntervals()) {
      model.serve(streamId, interval, await log.read(streamId, interval));
    }
  }

  /** Seals everything that waits; then the stored feed must contain everything once. */
  async end(): Promise<void> {
    for (let count = 0; this.model.isWaiting(); count++) {
      expect(count).toBeLessThan(SEALINGS_AT_END_MAX);
      this.pass(250);
      await this.seal('none');
      await this.readAll(0);
    }
    const { store } = this.show;
    const all = { from: 0, to: await store.readWatermark({}) };
    this.model.expectAllPublished((await store.readSealedOfAll(all)).bodies);
  }

  private nowMs(): number {
    return this.service.clock.nowMs();
  }

  private check(assertion: () => void): void {
    try {
      assertion();
    } catch (error) {
      this.violation ??= error;
    }
  }

  private start(watermark: number): Service {
    const clock = createClock({
      systemMs: () => this.systemMs,
      monotonicMs: () => this.monotonicMs,
      notBeforeMs: intervalStartMs(watermark + 1),
    });
    const log = new MemoryFeedLog(this.show.store, watermark);
    const chat = createMemoryChatSource({ random: () => 0.5 });
    const first = STREAMS[0] as string;
    const countsAtEndOf = () => {
      const { audience } = this.model;
      return audience > 0 ? [[first, audience] as const] : [];
    };
    const counts = new ViewCountEvents({ countsAtEndOf });
    const sealer = new Sealer({
      clock,
      store: this.unreliableStore(),
      log,
      transients: new TransientBuffer({ source: chat, counts, activeStreams: () => [] }),
      logger: pino({ level: 'silent' }),
      onSealed: () => {},
    });
    for (const streamId of STREAMS) this.listen(log, streamId, watermark);
    return { clock, log, sealer, chat };
  }

  /** Checks that a listener receives intervals in order, each once, with the bytes that were served. */
  private listen(log: MemoryFeedLog, streamId: string, watermark: number): void {
    this.received.set(streamId, watermark);
    log.subscribe(streamId, (interval, body) => {
      this.check(() => {
        expect(interval).toBeGreaterThan(this.received.get(streamId) ?? watermark);
        this.received.set(streamId, interval);
        this.model.serve(streamId, interval, body);
      });
    });
  }

  /** The database, with the fault of this step. */
  private unreliableStore() {
    const { store } = this.show;
    return {
      readWatermark: store.readWatermark,
      readSealedOfAll: async (range: { from: number; to: number }) => {
        if (this.fault.endsWith('unreadable')) throw new Error('the disk cannot be read');
        return store.readSealedOfAll(range);
      },
      sealInterval: async (sealing: Sealing): Promise<SealOutcome> => {
        if (this.fault === 'fails') throw new Error('the disk failed');
        const sealed = await store.sealInterval(sealing);
        if (sealed.outcome === 'sealed') {
          this.check(() => this.model.commit(sealing, sealed.bodies));
        }
        if (this.fault !== 'none') throw new Error('the reply was lost');
        return sealed;
      },
    };
  }
}

function eventOf(kind: EventKind, number: number): ProducerEvent {
  if (kind === 'custom') return { type: 'custom', data: { number } };
  if (kind === 'purchase') return { type: 'purchase', data: { text: String(number), name: '' } };
  return { type: 'discount', data: { count: 1 } };
}
