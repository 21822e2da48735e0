import { CountLedger, type Heartbeat } from '../../../crowd/ledger/count-ledger.ts';
import { INTERVAL_MS, intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { jsonOf, RetryingClient, type TestedService } from '../kill/retrying-client.ts';
import type { Checks } from './checks.ts';
import type { Outage, Outages } from './outages.ts';

export interface HeartbeatClientsOptions {
  readonly service: TestedService;
  readonly streamId: string;
  readonly outages: Outages;
  readonly random: () => number;
  readonly checks: Checks;
}

const HEARTBEAT_EVERY_MS = 900;
/** Share of heartbeats after which the viewer pauses, for this time at most. */
const PAUSE_SHARE = 0.05;
const PAUSE_MAX_MS = 3_000;
/** Shares of viewers who change the node with each heartbeat, and who use two nodes at once. */
const ROAMING_SHARE = 0.3;
const DUPLICATED_SHARE = 0.2;
/** Share of heartbeats after which the viewer reads the count. */
const READ_SHARE = 0.2;
// Nodes read the clock of Redis, which runs on this machine, over a round trip with this error.
const CLOCK_ERROR_MS = 40;
// N-7: a node sends the heartbeats of an interval to Redis within this time after its end.
const HANDOVER_MS = 100;
// N-5: a count is at most four intervals old, and one more is in progress.
const MAX_COUNT_AGE_INTERVALS = 5;
// V-3: a heartbeat counts for at most this long.
const WINDOW_MS = 1_250;
// The ledger drops heartbeats older than this.
const LEDGER_RETENTION_MS = 5_000;

interface CountedViewer {
  readonly number: number;
  readonly client: RetryingClient;
  readonly movement: 'fixed' | 'roaming' | 'duplicated';
  readonly homeNode: number;
}

/**
 * Viewers of one stream who send heartbeats to all nodes and read its count. Every count, published
 * or read, must be in the range that their acknowledged and unknown heartbeats allow (I-5).
 */
export class HeartbeatClients {
  readonly figures = { published: 0, read: 0 };
  private readonly ledger = new CountLedger();
  private readonly acknowledged: { node: number; atMs: number; heartbeat: Heartbeat }[] = [];
  private readonly viewers: CountedViewer[] = [];
  private running: Promise<void>[] = [];
  private isOver = false;

  constructor(private readonly options: HeartbeatClientsOptions) {}

  /** Gets tokens for this many viewers. */
  async join(size: number): Promise<void> {
    const numbers = Array.from({ length: size }, (_, number) => number);
    await Promise.all(numbers.map((number) => this.joinOne(number)));
  }

  start(): void {
    this.running = this.viewers.map((viewer) => this.run(viewer));
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.running);
  }

  /** A node was killed or cut off: heartbeats of its last interval may be lost (N-7). */
  nodeLost(lostNode: number): void {
    const lostFromMs = intervalStartMs(intervalAt(Date.now() - HANDOVER_MS)) - CLOCK_ERROR_MS;
    for (const { node, atMs, heartbeat } of this.acknowledged) {
      if (node === lostNode && atMs >= lostFromMs) heartbeat.isCertain = false;
    }
  }

  /** Checks the count that the feed published in an interval. */
  receivePublishedCount(interval: number, value: number): void {
    const endMs = intervalStartMs(interval + 1);
    if (Date.now() - endMs > LEDGER_RETENTION_MS) return;
    this.figures.published++;
    const subject = `the count published in ${interval}, ${Date.now() - endMs} ms ago,`;
    this.checkCount(value, this.ledger.boundsAtEndOf(interval), endMs, subject);
  }

  private checkCount(
    value: number,
    { low, high }: { readonly low: number; readonly high: number },
    atMs: number,
    subject: string,
  ): void {
    const { outages, checks } = this.options;
    const allowed = `the heartbeats allow ${low}–${high}`;
    const violation = `${subject} is ${value}, ${allowed} ${outages.describe(atMs, atMs)}`;
    if (value > high) checks.fail(violation);
    // N-12: a restarted Redis may know no viewer until each has sent a heartbeat.
    if (value >= low || outages.during(atMs, atMs).some(isBackendOutage)) return;
    // A node without a free core may hand its interval over after the count.
    checks.failTiming(violation, atMs - WINDOW_MS, atMs);
  }

  private async joinOne(number: number): Promise<void> {
    const { service, streamId, random } = this.options;
    const response = await new RetryingClient(service, '', number).sendUntilDefinite(
      'POST',
      '/api/v1/token',
      {
        body: { stream_id: streamId, unique_user_identifier: `viewer-${number}` },
        pauseMs: () => 50,
      },
    );
    const { token } = jsonOf<{ token: string }>(response, 200);
    const homeNode = Math.floor(random() * service.nodes.length);
    const chance = random();
    const other = chance < ROAMING_SHARE + DUPLICATED_SHARE ? 'duplicated' : 'fixed';
    const movement = chance < ROAMING_SHARE ? 'roaming' : other;
    const client = new RetryingClient(service, `Bearer ${token}`, homeNode);
    this.viewers.push({ number, client, movement, homeNode });
  }

  private async run(viewer: CountedViewer): Promise<void> {
    const { random, service } = this.options;
    const { client, movement, homeNode } = viewer;
    await Bun.sleep(random() * HEARTBEAT_EVERY_MS);
    while (!this.isOver) {
      const node = movement === 'roaming' ? Math.floor(random() * service.nodes.length) : homeNode;
      const heartbeats = [this.sendHeartbeat(viewer, node)];
      if (movement === 'duplicated') heartbeats.push(this.sendHeartbeat(viewer, node + 1));
      const [isCertain] = await Promise.all(heartbeats);
      // Like a real client, switch to another node at once after a failure.
      if (!isCertain) await this.sendHeartbeat(viewer, node + 1);
      if (random() < READ_SHARE) await this.readCount(client);
      await Bun.sleep(random() < PAUSE_SHARE ? PAUSE_MAX_MS * random() : HEARTBEAT_EVERY_MS);
    }
  }

  /** @returns whether it was acknowledged */
  private async sendHeartbeat({ number, client }: CountedViewer, target: number): Promise<boolean> {
    const { service, streamId, outages } = this.options;
    client.selectNode(target);
    const heartbeat = this.ledger.sent(number, Date.now() - CLOCK_ERROR_MS);
    const response = await client.send('POST', `/api/v1/view-counts/${streamId}`);
    const atMs = Date.now();
    if (response?.status !== 204) {
      this.ledger.lost(heartbeat, atMs);
      return false;
    }
    this.ledger.acknowledged(heartbeat, atMs + CLOCK_ERROR_MS);
    const node = target % service.nodes.length;
    this.acknowledged.push({ node, atMs, heartbeat });
    if (outages.at(atMs).some(mayLoseHeartbeats(node))) heartbeat.isCertain = false;
    if (this.acknowledged.length > 2_000) this.acknowledged.splice(0, 1_000);
    return true;
  }

  /** Reads and checks the count of the client's current node. */
  private async readCount(client: RetryingClient): Promise<void> {
    const fromMs = Date.now();
    const path = `/api/v1/view-counts/${this.options.streamId}`;
    const { currentNode } = client;
    const response = await client.send('GET', path);
    if (response?.status !== 200) return;
    this.figures.read++;
    const toMs = Date.now();
    const { value } = jsonOf<{ value: number }>(response, 200);
    const ranges = possibleAgesMs(fromMs).map((ageMs) => {
      // A node counts the viewers of the last hand-over of all nodes, which may be two intervals
      // old, and those who came since. So a viewer who moves between nodes is never missing.
      const longerMs = ageMs + 2 * INTERVAL_MS;
      return {
        low: this.ledger.boundsBetween(fromMs - ageMs, toMs - ageMs).low,
        high: this.ledger.boundsBetween(fromMs - longerMs, toMs - ageMs).high,
      };
    });
    const low = Math.min(...ranges.map((range) => range.low));
    const high = Math.max(...ranges.map((range) => range.high));
    this.checkCount(value, { low, high }, toMs, `a count read from node ${currentNode}`);
  }
}

/**
 * The possible ages of a count, in ms: it is from now or a whole number of intervals ago, or from the
 * start of a recent interval, when viewers expire.
 */
function possibleAgesMs(nowMs: number): number[] {
  const sinceStartMs = nowMs - intervalStartMs(intervalAt(nowMs));
  const starts = Array.from(
    { length: MAX_COUNT_AGE_INTERVALS },
    (_, age) => sinceStartMs + age * INTERVAL_MS,
  );
  const ages = Array.from({ length: MAX_COUNT_AGE_INTERVALS + 1 }, (_, age) => age * INTERVAL_MS);
  return [...ages, ...starts];
}

function isBackendOutage({ node }: Outage): boolean {
  return node === null;
}

/** Whether a node may lose heartbeats that it acknowledged during an outage. */
function mayLoseHeartbeats(node: number): (outage: Outage) => boolean {
  return (outage) => outage.node === node && outage.kind !== 'stopped';
}
