import { expect } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { intervalAt } from '../../../protocol/interval.ts';
import { Unavailable } from '../../../server/platform/errors.ts';
import { PRODUCER } from '../streams/show-fixture.ts';
import type { FeedFixture, FeedNode } from './feed-fixture.ts';

const decoder = new TextDecoder();

/** What may be lost of the posts that were accepted. */
export type Lost = 'nothing' | 'lines' | 'posts';

interface Told {
  readonly type: string;
  readonly data: {
    readonly number?: number;
    readonly hearts?: number;
    readonly messages?: readonly { readonly id: string }[];
  };
}

/**
 * People on all nodes of a fixture: a producer who sends an event until it is acknowledged, viewers
 * who post on one node or the other, and readers who hold requests and listen everywhere. They
 * remember all that they were told.
 */
export class FeedRecorder {
  /** The bytes that somebody was served first. */
  private readonly served = new Map<number, string>();
  private readonly wrong: string[] = [];
  private acknowledged = 0;
  private hearts = 0;
  private lines = 0;
  private readonly ids = new Set<string>();
  private going = true;
  private readonly work: Promise<void>[] = [];
  /** How long each answer to a reader took, in ms, with whether it was 503 and when it was asked. */
  readonly answers: { atMs: number; tookMs: number; refused: boolean }[] = [];

  private constructor(
    private readonly fixture: FeedFixture,
    readonly streamId: string,
  ) {}

  static async of(fixture: FeedFixture): Promise<FeedRecorder> {
    const witness = new FeedRecorder(fixture, await fixture.newStream());
    for (const node of fixture.nodes) witness.watch(node);
    witness.work.push(witness.produce(), witness.post());
    return witness;
  }

  /** Also listens to this node and reads there. */
  watch(node: FeedNode): void {
    let last = -1;
    node.realtime.feed.subscribe(this.streamId, (interval, body) => {
      if (interval <= last) this.wrong.push(`${interval} was told after ${last}`);
      last = interval;
      this.serve(interval, body);
    });
    this.work.push(this.read(node));
  }

  /** The newest interval that somebody was served. */
  newest(): number {
    return Math.max(-1, ...this.served.keys());
  }

  /** Every node serves what has ended, less than so many intervals behind. */
  async isWell(behindMax = 2): Promise<void> {
    for (const { realtime, clock } of this.fixture.nodes) {
      while (
        realtime.unavailable() !== null ||
        intervalAt(clock.nowMs()) - 1 - realtime.feed.sealedTo() > behindMax
      ) {
        await Bun.sleep(5);
      }
    }
  }

  /**
   * The end: what was served is what every node and the database have, every acknowledged event is in
   * the feed once, and no post is there twice.
   * @param lost what of the posts may be lost: lines beyond a sample of many, or any
   */
  async end(nodes: readonly FeedNode[], lost: Lost): Promise<void> {
    this.going = false;
    await Promise.all(this.work);
    const to = intervalAt((nodes[0] as FeedNode).clock.nowMs()) + 2;
    for (const { realtime } of nodes) while (realtime.feed.sealedTo() < to) await Bun.sleep(5);
    expect(this.wrong).toEqual([]);
    const { store } = nodes[0] as FeedNode;
    const from = Math.min(...this.served.keys());
    const rows = await store.readSealed({ streamId: this.streamId, from: 0, to, limit: 10_000 });
    const stored = new Map(rows.map(({ interval, body }) => [interval, body]));
    for (let interval = from; interval <= to; interval++) {
      const body = stored.get(interval) ?? `{"interval":${interval},"events":[]}`;
      const known = this.served.get(interval);
      if (known !== undefined) expect(known).toBe(body);
      for (const { realtime } of nodes) {
        expect(decoder.decode(await realtime.feed.read(this.streamId, interval))).toBe(body);
      }
    }
    this.expectOnce(
      rows.flatMap(({ body }) => JSON.parse(body).events as Told[]),
      lost,
    );
  }

  private expectOnce(events: readonly Told[], lost: Lost): void {
    const numbers = events.flatMap(({ data }) => data?.number ?? []);
    expect(numbers).toEqual(Array.from({ length: this.acknowledged }, (_, n) => n));
    const ids = events.flatMap(({ data }) => data?.messages?.map(({ id }) => id) ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(this.ids).toContain(id);
    const hearts = events.reduce((sum, { data }) => sum + (data?.hearts ?? 0), 0);
    if (lost === 'nothing') expect(ids).toHaveLength(this.lines);
    if (lost === 'posts') {
      expect(hearts).toBeLessThanOrEqual(this.hearts);
      expect(hearts).toBeGreaterThan(0);
    } else expect(hearts).toBe(this.hearts);
  }

  private serve(interval: number, bytes: Uint8Array): void {
    const body = decoder.decode(bytes);
    const first = this.served.get(interval);
    if (first === undefined) this.served.set(interval, body);
    else if (first !== body) this.wrong.push(`${first} became ${body}`);
  }

  private async read(node: FeedNode): Promise<void> {
    const { realtime, clock } = node;
    let next = realtime.feed.sealedTo() + 1;
    while (this.going) {
      next = Math.max(next, intervalAt(clock.nowMs()) - 20);
      const atMs = performance.now();
      const interval = next;
      const body = await ask(() => realtime.feed.read(this.streamId, interval));
      this.answers.push({ atMs, tookMs: performance.now() - atMs, refused: body === null });
      if (body === null) await Bun.sleep(30);
      else {
        this.serve(interval, body);
        next = interval + 1;
      }
    }
  }

  private async produce(): Promise<void> {
    for (let number = 0; this.going; number++) {
      const event = { type: 'custom', data: { number } } as const;
      const key = randomUUID();
      for (let tries = 0; ; tries++) {
        const { store, clock } = this.node(number + tries);
        const nowMs = clock.nowMs();
        const input = { streamId: this.streamId, producer: PRODUCER, event, nowMs };
        const once = { owner: PRODUCER, key, fingerprint: '', nowMs };
        if ((await ask(() => store.recordProducerEvent(input, once))) !== null) break;
        await Bun.sleep(50);
      }
      this.acknowledged = number + 1;
      await Bun.sleep(20);
    }
  }

  private async post(): Promise<void> {
    for (let turn = 0; this.going; turn++) {
      const { chat, clock } = this.node(turn);
      try {
        if (turn % 2 === 0) {
          chat.hearts(this.streamId, 3);
          this.hearts += 3;
        } else {
          const id = randomUUID();
          const element = { id, viewer: 'v', name: '', text: 'Hi', at: clock.nowMs() };
          this.ids.add(id);
          chat.say(this.streamId, 'message', element);
          this.lines += 1;
        }
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
      }
      await Bun.sleep(15);
    }
  }

  private node(turn: number): FeedNode {
    return this.fixture.nodes[turn % this.fixture.nodes.length] as FeedNode;
  }
}

/** @returns null for 503 */
async function ask<T>(question: () => T | Promise<T>): Promise<T | null> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof Unavailable) return null;
    throw error;
  }
}
