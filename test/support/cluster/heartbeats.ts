import { CountLedger, type Heartbeat } from '../../../crowd/ledger/count-ledger.ts';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { jsonOf, RetryingClient, type TestedService } from '../kill/retrying-client.ts';
import type { Judgement } from './checks.ts';
import type { Outage, Outages } from './outages.ts';

export interface HeartbeatsOptions {
  readonly service: TestedService;
  readonly streamId: string;
  readonly outages: Outages;
  readonly random: () => number;
  readonly judgement: Judgement;
}

// How long viewers wait between heartbeats, and how long those who leave stay away.
const EVERY_MS = 900;
const UNAVAILABLE_MS = 3_000;
const LEAVING = 0.05;
/** Shares of viewers who go to another node each time, and who are on two nodes at once. */
const RESTLESS = 0.3;
const DOUBLED = 0.2;
/** Share of heartbeats after which the viewer asks for the count. */
const ASKING = 0.2;
// Service time is Redis' clock, which is this machine's: a reading of it is off by a round trip.
const CLOCK_MS = 40;
// N-7: a node hands an interval over right after its end, which takes a moment.
const HANDED_OVER_MS = 100;
// N-5: a count is at most four intervals old, and one is being filled.
const OLD_INTERVALS = 5;
// V-3: heartbeats that count are at most this old.
const WINDOW_MS = 1_250;
// The ledger forgets heartbeats that are older.
const LEDGER_MS = 5_000;

interface Watcher {
  readonly number: number;
  readonly requests: RetryingClient;
  readonly habit: 'settled' | 'restless' | 'doubled';
  readonly home: number;
}

/** Viewers of a stream who send heartbeats to all nodes, and what must follow for the count (I-5). */
export class Heartbeats {
  readonly figures = { heartbeats: 0, published: 0, read: 0 };
  private readonly ledger = new CountLedger();
  private readonly heard: { node: number; atMs: number; heartbeat: Heartbeat }[] = [];
  private readonly watchers: Watcher[] = [];
  private running: Promise<void>[] = [];
  private over = false;

  constructor(private readonly options: HeartbeatsOptions) {}

  async gather(size: number): Promise<void> {
    const { service, streamId, random } = this.options;
    const join = async (number: number): Promise<void> => {
      const answer = await new RetryingClient(service, '', number).sendUntilDefinite('POST', '/api/v1/token', {
        body: { stream_id: streamId, unique_user_identifier: `watcher-${number}` },
        pauseMs: () => 50,
      });
      const { token } = jsonOf<{ token: string }>(answer, 200);
      const home = Math.floor(random() * service.nodes.length);
      const chance = random();
      const others = chance < RESTLESS + DOUBLED ? 'doubled' : 'settled';
      const habit = chance < RESTLESS ? 'restless' : others;
      const requests = new RetryingClient(service, `Bearer ${token}`, home);
      this.watchers.push({ number, requests, habit, home });
    };
    await Promise.all(Array.from({ length: size }, (_, number) => join(number)));
  }

  begin(): void {
    this.running = this.watchers.map((watcher) => this.watch(watcher));
  }

  async end(): Promise<void> {
    this.over = true;
    await Promise.all(this.running);
  }

  /** A node was killed or cut off: what it heard in its last interval may be lost (N-7). */
  nodeLost(node: number): void {
    const lostFromMs = intervalStartMs(intervalAt(Date.now() - HANDED_OVER_MS)) - CLOCK_MS;
    for (const { node: at, atMs, heartbeat } of this.heard) {
      if (at === node && atMs >= lostFromMs) heartbeat.counted = false;
    }
  }

  /** The feed told this count in this interval. */
  published(interval: number, value: number): void {
    const endMs = intervalStartMs(interval + 1);
    if (Date.now() - endMs > LEDGER_MS) return;
    this.figures.published++;
    const { low, high } = this.ledger.atEndOf(interval);
    this.judge(
      value,
      low,
      high,
      endMs,
      `the count published in ${interval}, ${Date.now() - endMs} ms ago,`,
    );
  }

  private judge(value: number, low: number, high: number, atMs: number, what: string): void {
    const { outages, judgement } = this.options;
    const allowed = `the heartbeats allow ${low}–${high}`;
    const found = `${what} is ${value}, ${allowed} ${outages.around(atMs, atMs)}`;
    if (value > high) judgement.wrong(found);
    // N-12: a Redis that comes back may know nobody, until everybody's next heartbeat.
    if (value >= low || outages.during(atMs, atMs).some(isBackend)) return;
    // Of a node that gets no core, an interval may not be there when it is counted.
    judgement.late(found, atMs - WINDOW_MS, atMs);
  }

  private async watch(watcher: Watcher): Promise<void> {
    const { random, service } = this.options;
    const { requests, habit, home } = watcher;
    await Bun.sleep(random() * EVERY_MS);
    while (!this.over) {
      const node = habit === 'restless' ? Math.floor(random() * service.nodes.length) : home;
      const answers = [this.beat(watcher, node)];
      if (habit === 'doubled') answers.push(this.beat(watcher, node + 1));
      const [answered] = await Promise.all(answers);
      // A viewer who is not heard turns to another node at once.
      if (!answered) await this.beat(watcher, node + 1);
      if (random() < ASKING) await this.ask(requests);
      await Bun.sleep(random() < LEAVING ? UNAVAILABLE_MS * random() : EVERY_MS);
    }
  }

  private async beat({ number, requests }: Watcher, node: number): Promise<boolean> {
    const { service, streamId } = this.options;
    this.figures.heartbeats++;
    requests.selectNode(node);
    const heartbeat = this.ledger.sent(number, Date.now() - CLOCK_MS);
    const answer = await requests.send('POST', `/api/v1/view-counts/${streamId}`);
    const atMs = Date.now();
    if (answer?.status !== 204) {
      this.ledger.lost(heartbeat, atMs);
      return false;
    }
    this.ledger.acknowledged(heartbeat, atMs + CLOCK_MS);
    const at = node % service.nodes.length;
    this.heard.push({ node: at, atMs, heartbeat });
    if (this.options.outages.at(atMs).some(isLossAt(at))) heartbeat.counted = false;
    if (this.heard.length > 2_000) this.heard.splice(0, 1_000);
    return true;
  }

  /** Asks for the count, wherever the viewer is. */
  private async ask(requests: RetryingClient): Promise<void> {
    const fromMs = Date.now();
    const path = `/api/v1/view-counts/${this.options.streamId}`;
    const { currentNode } = requests;
    const answer = await requests.send('GET', path);
    if (answer?.status !== 200) return;
    this.figures.read++;
    const toMs = Date.now();
    const { value } = jsonOf<{ value: number }>(answer, 200);
    const bounds = momentsBefore(fromMs).map((ageMs) => {
      // A node counts who was there when all nodes had last handed in, and who came since: nobody
      // who goes from one to another is missing meanwhile. That may be two intervals ago.
      const longerMs = ageMs + 2 * INTERVAL_MS;
      return {
        low: this.ledger.between(fromMs - ageMs, toMs - ageMs).low,
        high: this.ledger.between(fromMs - longerMs, toMs - ageMs).high,
      };
    });
    const low = Math.min(...bounds.map((bound) => bound.low));
    const high = Math.max(...bounds.map((bound) => bound.high));
    this.judge(value, low, high, toMs, `a count that node ${currentNode} was asked for`);
  }
}

/**
 * How long ago a count may be from, in ms: now, and whenever it may have changed since by time
 * alone, at the starts of intervals.
 */
function momentsBefore(nowMs: number): number[] {
  const sinceStartMs = nowMs - intervalStartMs(intervalAt(nowMs));
  const starts = Array.from(
    { length: OLD_INTERVALS },
    (_, age) => sinceStartMs + age * INTERVAL_MS,
  );
  const ages = Array.from({ length: OLD_INTERVALS + 1 }, (_, age) => age * INTERVAL_MS);
  return [...ages, ...starts];
}

function isBackend({ node }: Outage): boolean {
  return node === null;
}

/** Whether what this node heard then may never have left it. */
function isLossAt(node: number): (outage: Outage) => boolean {
  return (outage) => outage.node === node && outage.what !== 'stopped';
}
