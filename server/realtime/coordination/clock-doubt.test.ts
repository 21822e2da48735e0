import { describe, expect, test } from 'bun:test';
import { createClock } from '../../platform/clock.ts';
import { ClockDoubt } from './clock-doubt.ts';
import { CLUSTER_STEPS } from './shared-clock.ts';

const START_MS = 1_800_000_000_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Nodes on one Redis, whose clocks the test moves; they read the clock of Redis once a second. */
class Nodes {
  redisMs = START_MS;
  monotonicMs = 1_000;
  readonly doubts: number[] = [];
  readonly nodes: Node[] = [];

  constructor(count: number) {
    for (let node = 0; node < count; node++) this.open();
  }

  open(): Node {
    const node = new Node(this);
    this.nodes.push(node);
    return node;
  }

  /** The lead of the foremost node over the clock of Redis, as the function in Redis returns it. */
  foremostMs(): number | null {
    const leads = this.nodes.map((node) => node.publishedMs - this.redisMs);
    return leads.length === 0 ? null : Math.max(...leads);
  }

  /** Passes time. @param isPaused whether a node runs meanwhile */
  run(ms: number, isPaused: (node: Node) => boolean = () => false): void {
    for (let passedMs = 0; passedMs < ms; passedMs += 250) {
      this.redisMs += 250;
      this.monotonicMs += 250;
      for (const node of this.nodes) {
        if (isPaused(node)) node.pausedMs += 250;
        else node.tick(passedMs % 1_000 === 0);
      }
    }
  }

  /** How far each node is behind the clock of Redis, in ms. */
  lags(): number[] {
    return this.nodes.map((node) => this.redisMs - node.nowMs());
  }
}

class Node {
  pausedMs = 0;
  sleptMs = 0;
  publishedMs: number;
  private offsetMs: number;
  private leadMs: number;
  private readonly doubt: ClockDoubt;
  readonly nowMs: () => number;

  constructor(private readonly all: Nodes) {
    const monotonicMs = () => all.monotonicMs - this.pausedMs;
    this.doubt = new ClockDoubt({
      monotonicMs,
      sleptMs: () => this.sleptMs,
      onDoubt: (aheadMs) => all.doubts.push(aheadMs),
    });
    this.leadMs = this.doubt.followedLeadMs(all.foremostMs());
    this.offsetMs = all.redisMs - monotonicMs();
    const clock = createClock({
      systemMs: () => monotonicMs() + this.offsetMs,
      monotonicMs,
      leadMs: () => this.leadMs,
      notBeforeMs: 0,
      ...CLUSTER_STEPS,
    });
    this.nowMs = clock.nowMs;
    this.publishedMs = clock.nowMs();
  }

  tick(readsRedis: boolean): void {
    if (readsRedis) {
      this.publishedMs = this.nowMs();
      const leadMs = this.doubt.followedLeadMs(this.all.foremostMs());
      this.offsetMs = this.all.redisMs - (this.all.monotonicMs - this.pausedMs);
      this.leadMs = leadMs;
    }
    this.nowMs();
  }
}

describe('nodes whose Redis has a wrong clock', () => {
  test('[N-8] [K-5] nodes do not follow a clock of Redis that is two hours ahead for 30 s', () => {
    const all = new Nodes(3);
    all.run(5_000);
    all.redisMs += 2 * HOUR_MS;
    all.run(30_000);
    for (const lag of all.lags()) expect(Math.abs(lag - 2 * HOUR_MS)).toBeLessThan(50);
    all.redisMs -= 2 * HOUR_MS;
    all.run(10_000);
    for (const lag of all.lags()) expect(Math.abs(lag)).toBeLessThan(50);
    expect(all.doubts).toHaveLength(3);
  });

  test('[N-8] [K-5] nodes follow it after five minutes, within seconds of each other', () => {
    const all = new Nodes(3);
    all.run(5_000);
    all.redisMs += 2 * HOUR_MS;
    all.run(5 * MINUTE_MS - 5_000);
    for (const lag of all.lags()) expect(Math.abs(lag - 2 * HOUR_MS)).toBeLessThan(200);
    all.run(15_000);
    for (const lag of all.lags()) expect(Math.abs(lag)).toBeLessThan(50);
  });

  test('[N-8] a node that starts meanwhile has the time of the others', () => {
    const all = new Nodes(2);
    all.run(5_000);
    all.redisMs += 2 * HOUR_MS;
    all.run(20_000);
    const [first] = all.lags();
    all.open();
    all.run(5_000);
    for (const lag of all.lags()) expect(Math.abs(lag - (first as number))).toBeLessThan(100);
  });

  test('[N-8] a node that was paused alone steps to the others after 2 s', () => {
    const all = new Nodes(3);
    all.run(5_000);
    const [paused] = all.nodes;
    all.run(10 * MINUTE_MS, (node) => node === paused);
    all.run(4_000);
    for (const lag of all.lags()) expect(Math.abs(lag)).toBeLessThan(100);
    expect(all.doubts).toEqual([]);
  });

  test('[N-8] nodes whose machines slept believe Redis after 2 s', () => {
    const all = new Nodes(2);
    all.run(5_000);
    for (const node of all.nodes) node.sleptMs = 10 * MINUTE_MS;
    all.redisMs += 10 * MINUTE_MS;
    all.run(4_000);
    for (const lag of all.lags()) expect(Math.abs(lag)).toBeLessThan(100);
    expect(all.doubts).toEqual([]);
  });
});
