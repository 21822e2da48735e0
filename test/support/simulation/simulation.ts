import { INTERVAL_MS, intervalAt } from '../../../protocol/interval.ts';
import { WINNERS_PROLONGED_INTERVALS, WINNERS_PROLONGED_MAX_MS } from '../../../protocol/limits.ts';
import { replaceRuntime } from '../../../server/platform/runtime.ts';
import type { PublishedQuiz } from '../kill/consistency-checker.ts';
import { Scheduler } from '../scheduler.ts';
import { seededRandom } from '../seeded-random.ts';
import { Balancer } from './balancer.ts';
import { Cheater } from './cheater.ts';
import { Cluster } from './cluster.ts';
import type { Coverage } from './coverage.ts';
import { startFault } from './faults.ts';
import { HttpClient, type HttpResponse } from './http-client.ts';
import { Oracle } from './oracle.ts';
import { losesCommits, type Plan } from './plan.ts';
import { Producer } from './producer.ts';
import { SdkViewer } from './sdk-viewer.ts';
import type { Template } from './template.ts';
import { Timeline } from './timeline.ts';
import { NO_MACHINE } from './virtual-runtime.ts';

export interface SimulationResult {
  readonly violations: readonly string[];
  readonly timeline: Timeline;
  readonly virtualMs: number;
  readonly figures: Oracle['figures'];
  readonly coverage: Coverage;
  /** Hash of everything that was sent and received. */
  readonly hash: string;
}

export const START_MS = 1_760_000_000_000;
const OPENING_MS = 1_500;
export const FAULTS_FROM_MS = 3_000;
/** N-11: everything works this long after the last fault. */
const RECOVERY_MS = 2_000;
/** N-22: unsealed intervals may be unavailable for this long after commits were lost. */
const REPAIR_MS = 3_000;
/** The show goes on this long after the last fault, so that each viewer returns. */
const FINISH_MS = 5_000;
/** The longest that the rest of a round takes. */
const ENDING_MS = 20_000;
const ENDING_STEP_MS = 250;
/** W-5: the longest from the request for winners to their count, once sealing is on time again. */
const COUNT_MS = WINNERS_PROLONGED_MAX_MS + WINNERS_PROLONGED_INTERVALS * INTERVAL_MS;
/** The longest wait of a viewer between two tries, and the try. */
const BACKOFF_MS = 21_000;
/** After this time the readers have read everything that was acknowledged. */
const SEAL_MS = 1_000;

/** N-8, with what clocks drift between two readings. */
const CLOCK_DIFFERENCE_MAX_MS = 120;

const REPLAY_MS = 3_000;
/** Names clients that are no viewers in the ledger. */
const REPLAY_SEAT = 1_000;
const CHEATER_SEAT = 1_001;
/** Viewers who answer a quiz in its last moment: some answers are stored after the close. */
const LAST_ANSWERS = 3;

const leaveMachine = () => replaceRuntime(NO_MACHINE);

/** Runs a show under faults, and judges it. */
export function simulate(plan: Plan, template: Template): SimulationResult {
  template.engine.reset();
  return new Simulation(plan, template).run();
}

class Simulation {
  private readonly scheduler: Scheduler;
  private readonly startMs: number;
  private readonly random: () => number;
  private readonly timeline: Timeline;
  private readonly violations: string[] = [];
  private readonly hash = new Bun.CryptoHasher('sha256');
  private readonly isLossy: boolean;
  private readonly oracle: Oracle;
  private readonly cluster: Cluster;
  private readonly producer: Producer;
  private readonly viewers: SdkViewer[] = [];
  private posts = 0;
  private playing = true;
  private unread = 0;

  constructor(
    private readonly plan: Plan,
    private readonly template: Template,
  ) {
    const { seed, nodes, isEmbedded } = plan;
    this.scheduler = new Scheduler(START_MS + (seed % 1_000) * 37, leaveMachine);
    this.startMs = this.scheduler.nowMs;
    this.random = seededRandom(seed);
    this.timeline = new Timeline(this.scheduler);
    this.isLossy = losesCommits(plan);
    const { scheduler, random, timeline, violations, hash, isLossy } = this;
    const serviceOffsets = () => this.cluster.serviceOffsets();
    this.oracle = new Oracle({ timeline, violations, hash, serviceOffsets, isLossy });
    const onViolation = (violation: string) => this.oracle.fail(violation);
    const { engine } = template;
    const size = { nodes, isEmbedded };
    this.cluster = new Cluster({ scheduler, random, engine, timeline, ...size, onViolation });
    this.producer = this.createProducer();
  }

  run(): SimulationResult {
    const { cluster, plan, scheduler, oracle } = this;
    for (let number = 0; number < plan.nodes; number++) cluster.start(number);
    scheduler.advance(OPENING_MS);
    void this.play();
    this.passFaults();
    this.endShow();
    this.replay();
    for (const viewer of this.viewers) viewer.leave();
    oracle.judge();
    return {
      violations: this.violations,
      timeline: this.timeline,
      virtualMs: scheduler.nowMs - this.startMs,
      figures: oracle.figures,
      coverage: cluster.coverage,
      hash: this.hash.digest('hex'),
    };
  }

  private createProducer(): Producer {
    const { scheduler, random, cluster, oracle, template } = this;
    const observer = oracle.producerObserver;
    const network = { scheduler, random, balancer: cluster.balancer, observer, roaming: 0.3 };
    const client = new HttpClient(scheduler, network, `Token ${template.token}`);
    let keys = 0;
    const newKey = () => `key-${++keys}`;
    const onPublished = (quiz: PublishedQuiz) => {
      this.createCheater(1).cheat(quiz);
      for (let number = 2; number < 2 + LAST_ANSWERS; number++)
        void this.createCheater(number).answerAtLast(quiz);
    };
    return new Producer({ client, oracle, random, newKey, onPublished });
  }

  /** Each has a new connection, and a token that has not expired. @param number names the viewer */
  private createCheater(number: number): Cheater {
    const { scheduler, random, cluster, oracle, template, producer } = this;
    const observer = oracle.observerOf(`cheater ${number}`, CHEATER_SEAT + number);
    const network = { scheduler, random, balancer: cluster.balancer, observer, roaming: 1 };
    const serviceMs = () => scheduler.nowMs + cluster.serviceOffsets().maxMs;
    const { streamId } = producer;
    const credential = template.viewerTokenOf(streamId, number, serviceMs());
    const client = new HttpClient(scheduler, network, credential);
    const onUnexpected = ({ status, text }: HttpResponse) =>
      oracle.failUnlessLossy(`${status} to an answer: ${text}`);
    return new Cheater({ client, random, streamId, serviceMs, onUnexpected });
  }

  private async play(): Promise<void> {
    const { producer } = this;
    try {
      const streamId = await producer.open();
      for (let seat = 0; seat < this.plan.viewers; seat++) this.join(streamId, seat);
      await producer.play();
    } catch (error) {
      this.oracle.failUnlessLossy(`the show failed: ${(error as Error).message}`);
    }
    this.playing = false;
  }

  private join(streamId: string, seat: number): void {
    const { scheduler, random, oracle, cluster } = this;
    const viewerId = `viewer-${seat}`;
    const observer = oracle.observerOfSdk(viewerId, seat);
    const network = { scheduler, random, balancer: cluster.balancer, observer };
    const viewer = new SdkViewer({ ...network, streamId, viewerId });
    viewer.chat(() => `${viewerId} ${++this.posts}`);
    this.viewers.push(viewer);
  }

  /** Plays under the faults of the plan, until the service must have recovered from them. */
  private passFaults(): void {
    const { plan, scheduler, startMs, cluster, viewers, timeline, random } = this;
    const context = { cluster, viewers, timeline, scheduler, random };
    for (const fault of plan.faults) {
      const inMs = startMs + FAULTS_FROM_MS + fault.atMs - scheduler.nowMs;
      scheduler.after(inMs, () => startFault(fault, context));
    }
    const endsMs = plan.faults.map(({ atMs, durationMs }) => atMs + durationMs);
    const repairedMs = FAULTS_FROM_MS + Math.max(0, ...endsMs) + (this.isLossy ? REPAIR_MS : 0);
    this.advanceTo(repairedMs + RECOVERY_MS);
    this.checkRecovered();
    this.advanceTo(repairedMs + FINISH_MS);
  }

  private endShow(): void {
    const { scheduler, oracle, viewers } = this;
    this.producer.stop();
    for (const viewer of viewers) viewer.stopChat();
    this.advanceWhile(() => this.playing, ENDING_MS);
    scheduler.advance(SEAL_MS);
    if (!this.isLossy) this.advanceWhile(() => oracle.isCountMissing, COUNT_MS);
    if (this.playing) {
      oracle.failUnlessLossy('the show does not end: an event or a response is missing');
    }
    this.checkRecovered();
    this.checkClocks();
    const isMissing = () =>
      viewers.some(({ viewer }) => viewer.state === 'offline' || viewer.state === 'joining');
    this.advanceWhile(isMissing, BACKOFF_MS);
    if (isMissing()) oracle.fail('a viewer does not return');
  }

  private advanceTo(sinceStartMs: number): void {
    this.scheduler.advance(this.startMs + sinceStartMs - this.scheduler.nowMs);
  }

  private advanceWhile(condition: () => boolean, atMostMs: number): void {
    const { scheduler } = this;
    const latestMs = scheduler.nowMs + atMostMs;
    while (condition() && scheduler.nowMs < latestMs) scheduler.advance(ENDING_STEP_MS);
  }

  private checkRecovered(): void {
    const { cluster, oracle } = this;
    for (const { number, node, machine, accepts } of cluster.slots) {
      const { behind, isReady } = machine.read(() => ({
        behind: intervalAt(node.nowMs()) - 1 - node.watermark(),
        isReady: node.isReady(),
      }));
      if (!accepts) oracle.fail(`node ${number} does not accept requests after its recovery`);
      else if (behind > 1) oracle.fail(`node ${number} is ${behind} intervals behind`);
      else if (!isReady) oracle.fail(`node ${number} is not ready after its recovery`);
    }
  }

  /** N-8: a node that is further behind the others than this for 2 s steps forward. */
  private checkClocks(): void {
    if (!this.cluster.slots.some(({ accepts }) => accepts)) return;
    const { minMs, maxMs } = this.cluster.serviceOffsets();
    if (maxMs - minMs <= CLOCK_DIFFERENCE_MAX_MS) return;
    this.oracle.fail(`service time of two nodes differs by ${(maxMs - minMs).toFixed(0)} ms`);
  }

  /** Reads the whole feed again on every node: it must be what viewers got. */
  private replay(): void {
    const { template, producer, oracle, cluster, scheduler, random } = this;
    const serviceMs = scheduler.nowMs + cluster.serviceOffsets().minMs;
    const credential = template.viewerTokenOf(producer.streamId, 0, serviceMs);
    const observer = oracle.observerOf('replay', REPLAY_SEAT);
    for (const slot of cluster.slots) {
      const balancer = new Balancer([slot], random);
      const network = { scheduler, random, balancer, observer, roaming: 0 };
      const reader = new HttpClient(scheduler, network, credential);
      const to = slot.machine.read(() => slot.node.watermark());
      for (let interval = intervalAt(this.startMs); interval <= to; interval++) {
        void this.readAgain(reader, interval);
      }
    }
    scheduler.advance(REPLAY_MS);
    if (this.unread > 0) oracle.fail(`${this.unread} intervals could not be read again`);
  }

  private async readAgain(reader: HttpClient, interval: number): Promise<void> {
    this.unread++;
    const path = `/api/v1/events-streams/${this.producer.streamId}?interval=${interval}`;
    const { status, text } = await reader.sendUntilDefinite('GET', path);
    this.unread--;
    if (status !== 200) this.oracle.fail(`${status} to a replay of ${interval}: ${text}`);
  }
}
