import { expect } from 'bun:test';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { ProducerEvent } from '../../../protocol/studio.ts';
import type { ChatSource } from '../../../server/domains/chat/chat.ts';
import { createMemoryChat } from '../../../server/domains/chat/chat-memory.ts';
import { type Clock, createClock } from '../../../server/platform/clock.ts';
import { MemoryFeedLog } from '../../../server/realtime/feed/feed-log-memory.ts';
import { Sealer } from '../../../server/realtime/feed/sealer.ts';
import type { Sealing, SealOutcome } from '../../../server/realtime/feed/sealing-sql.ts';
import { TransientBuffer } from '../../../server/realtime/feed/transient-buffer.ts';
import { CountEvents } from '../../../server/realtime/presence/view-count-events.ts';
import { openShow, PRODUCER, SHOW_START_MS, type Show, uuidOf } from '../streams/show-fixture.ts';
import { type Kind, PlainFeed } from './feed-model.ts';

export const STREAMS = [uuidOf(1), uuidOf(2)];

/** Newest intervals that the reader asks for after each step, in each stream. */
const LOOK_BACK = 6;

// At most 60 steps of 260 purchases, 50 in a sealing. Posts that came while sealing failed are in
// the sealing after the next, or one later when the clock was stepped back.
const SEALINGS_AT_END_MAX = 320;

/** What becomes of a sealing in the database. */
export type Fate = 'works' | 'fails' | 'loses its answer' | 'loses its answer, then cannot be read';

/** A running service: what a restart replaces. */
interface Service {
  readonly clock: Clock;
  readonly log: MemoryFeedLog;
  readonly sealer: Sealer;
  readonly chat: ChatSource;
}

/**
 * The feed of a service on its real record, the machine it runs on, its producer, and a reader who
 * has seen every interval. What must be true of it is in `plain`.
 */
export class ModelSystem {
  readonly plain = new PlainFeed(STREAMS);
  private fate: Fate = 'works';
  private systemMs = SHOW_START_MS;
  private monotonicMs = 5_000;
  private nextNumber = 1;
  private sealedTo = -1;
  /** The newest interval that the listener of each stream was told of. */
  private readonly heard = new Map<string, number>();
  /** What was found wrong inside the service, which would take it for a failure of the database. */
  private wrong: unknown = null;
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

  /** Time passes, on both clocks of the machine. */
  pass(ms: number): void {
    this.systemMs += ms;
    this.monotonicMs += ms;
    this.nowMs();
  }

  /** Somebody sets the system clock. */
  step(ms: number): void {
    this.systemMs += ms;
  }

  /** So many viewers are in the first stream from now on. */
  gather(viewers: number): void {
    this.plain.audience = viewers;
  }

  /** The producer sends an event, and again when it did not hear the answer. */
  async produce(streamId: string, kind: Kind, isRetried: boolean): Promise<void> {
    const { store } = this.show;
    const number = this.nextNumber++;
    const nowMs = this.nowMs();
    const input = { streamId, producer: PRODUCER, event: eventOf(kind, number), nowMs };
    const once = { owner: PRODUCER, key: `${number}`, fingerprint: '', nowMs };
    const first = await store.recordProducerEvent(input, once);
    if (isRetried) expect(await store.recordProducerEvent(input, once)).toEqual(first);
    this.plain.acknowledge(streamId, kind, number);
  }

  /** A viewer posts hearts. */
  cheer(streamId: string, hearts: number): void {
    this.service.chat.hearts(streamId, hearts);
    this.plain.cheer(streamId, hearts);
  }

  /** The tick comes; twice at once, and the second joins the first. */
  async seal(fate: Fate): Promise<void> {
    this.fate = fate;
    await Promise.all([this.service.sealer.seal(), this.service.sealer.seal()]);
    this.fate = 'works';
  }

  /** The process dies, with what was in its memory, and starts again on the same directory. */
  async restart(): Promise<void> {
    await this.show.restart();
    const watermark = await this.show.store.readWatermark({});
    this.plain.forgetHearts();
    this.service = this.start(watermark);
    expect(this.nowMs()).toBeGreaterThanOrEqual(intervalStartMs(watermark + 1));
  }

  /** Asks for an interval that is not sealed yet; what comes must be what everybody gets. */
  hold(streamId: string, ahead: number): void {
    const interval = this.service.log.sealedTo() + ahead;
    const held = this.service.log.read(streamId, interval) as Promise<Uint8Array>;
    void held.then((body) => this.note(() => this.plain.serve(streamId, interval, body)));
  }

  /** The reader asks for the newest intervals, an older one, and all that were ever served. */
  async look(old: number): Promise<void> {
    const { plain } = this;
    const { log } = this.service;
    if (this.wrong) throw this.wrong;
    expect(await this.show.store.readWatermark({})).toBe(plain.watermark);
    expect(intervalAt(this.nowMs())).toBeGreaterThan(plain.watermark);
    expect(log.sealedTo()).toBeLessThanOrEqual(plain.watermark);
    expect(log.sealedTo()).toBeGreaterThanOrEqual(this.sealedTo);
    this.sealedTo = log.sealedTo();
    for (const interval of this.heard.values()) expect(interval).toBe(this.sealedTo);
    if (this.sealedTo < 0) return;
    const asked = [old, ...Array(LOOK_BACK).keys()].map((back) => this.sealedTo - back);
    for (const streamId of STREAMS) {
      for (const interval of asked) {
        plain.serve(streamId, interval, await log.read(streamId, interval));
      }
    }
    for (const { streamId, interval } of plain.allServed()) {
      plain.serve(streamId, interval, await log.read(streamId, interval));
    }
  }

  /** The end of the show: what waits is sealed, and the stored feed holds everything once. */
  async end(): Promise<void> {
    for (let count = 0; this.plain.isWaiting(); count++) {
      expect(count).toBeLessThan(SEALINGS_AT_END_MAX);
      this.pass(250);
      await this.seal('works');
      await this.look(0);
    }
    const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
    this.plain.expectAllTold(await this.show.store.readSealedOfAll(all));
  }

  private nowMs(): number {
    return this.service.clock.nowMs();
  }

  private note(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.wrong ??= error;
    }
  }

  private start(watermark: number): Service {
    const clock = createClock({
      systemMs: () => this.systemMs,
      monotonicMs: () => this.monotonicMs,
      notBeforeMs: intervalStartMs(watermark + 1),
    });
    const log = new MemoryFeedLog(this.show.store, watermark);
    const chat = createMemoryChat({ random: () => 0.5 });
    const first = STREAMS[0] as string;
    const countsAtEndOf = () => {
      const { audience } = this.plain;
      return audience > 0 ? [[first, audience] as const] : [];
    };
    const counts = new CountEvents({ countsAtEndOf });
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

  /** A listener is told of intervals in order, each once, with the bytes that everybody gets. */
  private listen(log: MemoryFeedLog, streamId: string, watermark: number): void {
    this.heard.set(streamId, watermark);
    log.subscribe(streamId, (interval, body) => {
      this.note(() => {
        expect(interval).toBeGreaterThan(this.heard.get(streamId) ?? watermark);
        this.heard.set(streamId, interval);
        this.plain.serve(streamId, interval, body);
      });
    });
  }

  /** The database, whose sealings have the fate that this step gave them. */
  private unreliableStore() {
    const { store } = this.show;
    return {
      readWatermark: store.readWatermark,
      readSealedOfAll: async (range: { from: number; to: number }) => {
        if (this.fate.endsWith('cannot be read')) throw new Error('the disk cannot be read');
        return store.readSealedOfAll(range);
      },
      sealInterval: async (sealing: Sealing): Promise<SealOutcome> => {
        if (this.fate === 'fails') throw new Error('the disk failed');
        const sealed = await store.sealInterval(sealing);
        if (sealed.outcome === 'sealed') {
          this.note(() => this.plain.commit(sealing, sealed.bodies));
        }
        if (this.fate !== 'works') throw new Error('the answer was lost');
        return sealed;
      },
    };
  }
}

function eventOf(kind: Kind, number: number): ProducerEvent {
  if (kind === 'custom') return { type: 'custom', data: { number } };
  if (kind === 'purchase') return { type: 'purchase', data: { text: String(number), name: '' } };
  return { type: 'discount', data: { count: 1 } };
}
