import { intervalAt } from '../../../protocol/interval.ts';
import { replaceRuntime } from '../../../server/platform/runtime.ts';
import { Scheduler } from '../scheduler.ts';
import { seededRandom } from '../seeded-random.ts';
import { Balancer } from './balancer.ts';
import { Cluster } from './cluster.ts';
import type { Coverage } from './coverage.ts';
import { startFault } from './faults.ts';
import { HttpClient } from './http-client.ts';
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
/** The longest wait of a viewer between two tries, and the try. */
const BACKOFF_MS = 21_000;
/** After this time the readers have read everything that was acknowledged. */
const SEAL_MS = 1_000;

const REPLAY_MS = 3_000;
/** Names readers that are no viewers in the ledger. */
const REPLAY_SEAT = 1_000;

const leaveMachine = () => replaceRuntime(NO_MACHINE);

/** Runs a show under faults, and judges it. */
export function simulate(plan: Plan, template: Template): SimulationResult {
  template.engine.reset();
  const scheduler = new Scheduler(START_MS + (plan.seed % 1_000) * 37, leaveMachine);
  const startMs = scheduler.nowMs;
  const random = seededRandom(plan.seed);
  const timeline = new Timeline(scheduler);
  const violations: string[] = [];
  const hash = new Bun.CryptoHasher('sha256');
  const isLossy = losesCommits(plan);
  const serviceOffsets = () => cluster.serviceOffsets();
  const oracle = new Oracle({ timeline, violations, hash, serviceOffsets, isLossy });
  const { nodes, isEmbedded } = plan;
  const onViolation = (violation: string) => oracle.fail(violation);
  const { engine } = template;
  const cluster = new Cluster({
    scheduler,
    random,
    engine,
    timeline,
    nodes,
    isEmbedded,
    onViolation,
  });
  for (let number = 0; number < nodes; number++) cluster.start(number);
  scheduler.advance(OPENING_MS);

  const shared = { scheduler, random, balancer: cluster.balancer };
  const network = { ...shared, observer: oracle.producerObserver, roaming: 0.3 };
  const client = new HttpClient(scheduler, network, `Token ${template.token}`);
  let keys = 0;
  let posts = 0;
  const newKey = () => `key-${++keys}`;
  const producer = new Producer({ client, oracle, random, newKey });
  const viewers: SdkViewer[] = [];
  let playing = true;
  let unread = 0;
  void producer
    .open()
    .then(async (streamId) => {
      for (let seat = 0; seat < plan.viewers; seat++) {
        const viewerId = `viewer-${seat}`;
        const observer = oracle.observerOf(viewerId, seat);
        const viewer = new SdkViewer({ ...shared, observer, streamId, viewerId });
        viewer.chat(() => `${viewerId} ${++posts}`);
        viewers.push(viewer);
      }
      await producer.play();
    })
    .catch((error: Error) => oracle.failUnlessLossy(`the show failed: ${error.message}`))
    .finally(() => {
      playing = false;
    });

  for (const fault of plan.faults) {
    const inMs = startMs + FAULTS_FROM_MS + fault.atMs - scheduler.nowMs;
    scheduler.after(inMs, () =>
      startFault(fault, { cluster, viewers, timeline, scheduler, random }),
    );
  }
  const faultsEndMs = Math.max(0, ...plan.faults.map(({ atMs, durationMs }) => atMs + durationMs));
  advanceTo(FAULTS_FROM_MS + faultsEndMs + RECOVERY_MS + (isLossy ? REPAIR_MS : 0));
  checkRecovered();
  advanceTo(FAULTS_FROM_MS + faultsEndMs + FINISH_MS + (isLossy ? REPAIR_MS : 0));
  producer.stop();
  for (const viewer of viewers) viewer.stopChat();
  const latestMs = scheduler.nowMs + ENDING_MS;
  while (playing && scheduler.nowMs < latestMs) scheduler.advance(ENDING_STEP_MS);
  scheduler.advance(SEAL_MS);
  if (playing) oracle.failUnlessLossy('the show does not end: an event or a response is missing');
  checkRecovered();
  const isMissing = () =>
    viewers.some(({ viewer }) => viewer.state === 'offline' || viewer.state === 'joining');
  const backMs = scheduler.nowMs + BACKOFF_MS;
  while (isMissing() && scheduler.nowMs < backMs) scheduler.advance(ENDING_STEP_MS);
  if (isMissing()) oracle.fail('a viewer does not return');
  replay();
  for (const viewer of viewers) viewer.leave();
  oracle.judge();
  return {
    violations,
    timeline,
    virtualMs: scheduler.nowMs - startMs,
    figures: oracle.figures,
    coverage: cluster.coverage,
    hash: hash.digest('hex'),
  };

  function advanceTo(sinceStartMs: number): void {
    scheduler.advance(startMs + sinceStartMs - scheduler.nowMs);
  }

  function checkRecovered(): void {
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

  /** Reads the whole feed again on every node: it must be what viewers got. */
  function replay(): void {
    const credential = template.viewerTokenOf(producer.streamId, scheduler.nowMs);
    const observer = oracle.observerOf('replay', REPLAY_SEAT);
    for (const slot of cluster.slots) {
      const balancer = new Balancer([slot], random);
      const options = { ...shared, balancer, observer, roaming: 0 };
      const reader = new HttpClient(scheduler, options, credential);
      const to = slot.machine.read(() => slot.node.watermark());
      for (let interval = intervalAt(startMs); interval <= to; interval++) {
        void readAgain(reader, interval);
      }
    }
    scheduler.advance(REPLAY_MS);
    if (unread > 0) oracle.fail(`${unread} intervals could not be read again`);
  }

  async function readAgain(reader: HttpClient, interval: number): Promise<void> {
    unread++;
    const path = `/api/v1/events-streams/${producer.streamId}?interval=${interval}`;
    const { status, text } = await reader.sendUntilDefinite('GET', path);
    unread--;
    if (status !== 200) oracle.fail(`${status} to a replay of ${interval}: ${text}`);
  }
}
