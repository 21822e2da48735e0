import { expect } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { intervalAt } from '../../../protocol/interval.ts';
import { Unavailable } from '../../../server/platform/errors.ts';
import { postedMessage } from '../chat/chat-messages.ts';
import { PRODUCER } from '../streams/show-fixture.ts';
import type { FeedFixture, FeedNode } from './feed-fixture.ts';

const decoder = new TextDecoder();

/** Accepted posts that may be lost: none, messages beyond a sample, or any. */
export type AllowedLoss = 'nothing' | 'messages' | 'posts';

interface FeedEvent {
  readonly type: string;
  readonly data: {
    readonly number?: number;
    readonly hearts?: number;
    readonly messages?: readonly { readonly id: string }[];
  };
}

/**
 * Clients of all nodes of a fixture, which record what they receive: a producer that repeats each event
 * until it is acknowledged, viewers that post on alternating nodes, and on each node a listener
 * and a reader with long polls.
 */
export class FeedRecorder {
  /** The first bytes served, by interval. */
  private readonly served = new Map<number, string>();
  private readonly violations: string[] = [];
  private acknowledgedCount = 0;
  private hearts = 0;
  private messages = 0;
  private readonly messageIds = new Set<string>();
  private running = true;
  private readonly work: Promise<void>[] = [];
  /** Reads of readers: when they began, how long they took, and whether they failed with 503. */
  readonly reads: { atMs: number; tookMs: number; failed: boolean }[] = [];

  private constructor(
    private readonly fixture: FeedFixture,
    readonly streamId: string,
  ) {}

  static async of(fixture: FeedFixture): Promise<FeedRecorder> {
    const recorder = new FeedRecorder(fixture, await fixture.newStream());
    for (const node of fixture.nodes) recorder.watch(node);
    recorder.work.push(recorder.produce(), recorder.post());
    return recorder;
  }

  /** Starts a reader and a listener on a node. */
  watch(node: FeedNode): void {
    let last = -1;
    node.realtime.feed.subscribe(this.streamId, (interval, body) => {
      if (interval <= last) this.violations.push(`${interval} was received after ${last}`);
      last = interval;
      this.serve(interval, body);
    });
    this.work.push(this.read(node));
  }

  /** The newest interval that was served. */
  newest(): number {
    return Math.max(-1, ...this.served.keys());
  }

  /** Waits until every node serves the feed with at most this lag, in intervals. */
  async untilHealthy(lagMax = 2): Promise<void> {
    for (const { realtime, clock } of this.fixture.nodes) {
      while (
        realtime.unavailableReason() !== null ||
        intervalAt(clock.nowMs()) - 1 - realtime.feed.watermark() > lagMax
      ) {
        await Bun.sleep(5);
      }
    }
  }

  /**
   * Stops, and checks that every node and the database have what was served, that every acknowledged
   * event is in the feed once, and that no post is in it twice.
   */
  async end(nodes: readonly FeedNode[], allowedLoss: AllowedLoss): Promise<void> {
    this.running = false;
    await Promise.all(this.work);
    const to = intervalAt((nodes[0] as FeedNode).clock.nowMs()) + 2;
    for (const { realtime } of nodes) while (realtime.feed.watermark() < to) await Bun.sleep(5);
    expect(this.violations).toEqual([]);
    const { store } = nodes[0] as FeedNode;
    const from = Math.min(...this.served.keys());
    const rows = await store.readSealed({ streamId: this.streamId, from: 0, to, limit: 10_000 });
    const stored = new Map(rows.map(({ interval, body }) => [interval, body]));
    for (let interval = from; interval <= to; interval++) {
      const body = stored.get(interval) ?? `{"interval":${interval},"events":[]}`;
      const served = this.served.get(interval);
      if (served !== undefined) expect(served).toBe(body);
      for (const { realtime } of nodes) {
        expect(decoder.decode(await realtime.feed.read(this.streamId, interval))).toBe(body);
      }
    }
    this.expectOnce(
      rows.flatMap(({ body }) => JSON.parse(body).events as FeedEvent[]),
      allowedLoss,
    );
  }

  private expectOnce(events: readonly FeedEvent[], allowedLoss: AllowedLoss): void {
    const numbers = events.flatMap(({ data }) => data?.number ?? []);
    expect(numbers).toEqual(Array.from({ length: this.acknowledgedCount }, (_, n) => n));
    const ids = events.flatMap(({ data }) => data?.messages?.map(({ id }) => id) ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(this.messageIds).toContain(id);
    const hearts = events.reduce((sum, { data }) => sum + (data?.hearts ?? 0), 0);
    if (allowedLoss === 'nothing') expect(ids).toHaveLength(this.messages);
    if (allowedLoss === 'posts') {
      expect(hearts).toBeLessThanOrEqual(this.hearts);
      expect(hearts).toBeGreaterThan(0);
    } else expect(hearts).toBe(this.hearts);
  }

  private serve(interval: number, bytes: Uint8Array): void {
    const body = decoder.decode(bytes);
    const first = this.served.get(interval);
    if (first === undefined) this.served.set(interval, body);
    else if (first !== body) this.violations.push(`${first} became ${body}`);
  }

  private async read(node: FeedNode): Promise<void> {
    const { realtime, clock } = node;
    let next = realtime.feed.watermark() + 1;
    while (this.running) {
      next = Math.max(next, intervalAt(clock.nowMs()) - 20);
      const atMs = performance.now();
      const interval = next;
      const body = await tryCall(() => realtime.feed.read(this.streamId, interval));
      this.reads.push({ atMs, tookMs: performance.now() - atMs, failed: body === null });
      if (body === null) await Bun.sleep(30);
      else {
        this.serve(interval, body);
        next = interval + 1;
      }
    }
  }

  private async produce(): Promise<void> {
    for (let number = 0; this.running; number++) {
      const event = { type: 'custom', data: { number } } as const;
      const key = randomUUID();
      for (let tries = 0; ; tries++) {
        const { store, clock } = this.node(number + tries);
        const nowMs = clock.nowMs();
        const input = { streamId: this.streamId, producer: PRODUCER, event, nowMs };
        const once = { owner: PRODUCER, key, fingerprint: '', nowMs };
        if ((await tryCall(() => store.recordProducerEvent(input, once))) !== null) break;
        await Bun.sleep(50);
      }
      this.acknowledgedCount = number + 1;
      await Bun.sleep(20);
    }
  }

  private async post(): Promise<void> {
    for (let n = 0; this.running; n++) {
      const { chat, clock } = this.node(n);
      try {
        if (n % 2 === 0) {
          chat.hearts(this.streamId, 3);
          this.hearts += 3;
        } else {
          const id = randomUUID();
          const element = { id, viewer: 'v', name: '', text: 'Hi', at: clock.nowMs() };
          this.messageIds.add(id);
          chat.post(this.streamId, postedMessage('message', element));
          this.messages += 1;
        }
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
      }
      await Bun.sleep(15);
    }
  }

  private node(n: number): FeedNode {
    return this.fixture.nodes[n % this.fixture.nodes.length] as FeedNode;
  }
}

/** @returns null when the call fails with Unavailable */
async function tryCall<T>(call: () => T | Promise<T>): Promise<T | null> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Unavailable) return null;
    throw error;
  }
}
