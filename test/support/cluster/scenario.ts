import type { Checks } from './checks.ts';
import type { Fixture } from './fixture.ts';
import { Load, type LoadFigures } from './load.ts';
import { type Outage, Outages, RECOVERY_LIMIT_MS } from './outages.ts';
import { RecoveryProbe } from './recovery-probe.ts';
import { TOLERANCE_MS } from './response-checker.ts';

/**
 * Nodes under load, and the ways to break them. Each way records its outage for the checks, so it
 * must be used instead of stopping a node or a backend directly.
 */
export class Scenario {
  readonly outages = new Outages();
  private load!: Load;
  private recoveryProbe!: RecoveryProbe;

  private constructor(
    readonly fixture: Fixture,
    readonly random: () => number,
  ) {}

  static async open(fixture: Fixture, random: () => number): Promise<Scenario> {
    const scenario = new Scenario(fixture, random);
    const { cluster, apiToken } = fixture;
    const nodes = cluster.nodes.map(({ target }) => target);
    const { outages } = scenario;
    scenario.recoveryProbe = await RecoveryProbe.open({ nodes, apiToken });
    scenario.load = await Load.open({
      nodes,
      nodePids: cluster.nodePids,
      apiToken,
      outages,
      random,
    });
    await scenario.load.start();
    return scenario;
  }

  /** The indexes of all nodes. */
  get nodes(): number[] {
    return [...this.fixture.cluster.nodes.keys()];
  }

  get checks(): Checks {
    return this.load.checks;
  }

  randomNode(): number {
    return Math.floor(this.random() * this.nodes.length);
  }

  sleepUpTo(ms: number): Promise<void> {
    return Bun.sleep(this.random() * ms);
  }

  /** Resolves when a quiz is open for this much longer. */
  waitForOpenQuiz(remainingMs: number): Promise<void> {
    return this.load.waitForOpenQuiz(remainingMs);
  }

  /** Breaks a backend, waits, and repairs it. @returns ms from the repair to the recovery */
  async breakBackend(
    backend: 'redis' | 'postgres',
    breakIt: () => void | Promise<void>,
    unavailableMs: number,
    repair: () => void | Promise<void>,
  ): Promise<number> {
    const outage = this.outages.begin(backend);
    await breakIt();
    await Bun.sleep(unavailableMs);
    await repair();
    return this.recover(outage);
  }

  /**
   * Kills a node with SIGKILL and starts it again.
   * @returns ms until the other nodes recovered, and ms from the restart until all did
   */
  async killNode(node: number, downMs: number): Promise<number[]> {
    const killed = this.fixture.cluster.nodes[node];
    const outage = this.outages.begin('killed', node);
    const exited = killed?.kill();
    this.load.nodeLost(node);
    await exited;
    this.load.forgetNode(node);
    const othersMs = await this.waitForRecovery(this.nodes.filter((other) => other !== node));
    await Bun.sleep(downMs);
    await killed?.start();
    return [othersMs, await this.recover(outage)];
  }

  /** Stops a node with SIGTERM and starts it again. @returns ms from the restart to the recovery */
  async restartNode(node: number): Promise<number> {
    const restarted = this.fixture.cluster.nodes[node];
    const outage = this.outages.begin('stopped', node);
    await restarted?.stop();
    this.load.forgetNode(node);
    await restarted?.start();
    return this.recover(outage);
  }

  /** Cuts a node off from Redis for a while. @returns ms from the repair to the recovery */
  async cutNode(
    node: number,
    cut: () => void,
    unavailableMs: number,
    repair: () => void,
  ): Promise<number> {
    const outage = this.outages.begin('cut', node);
    cut();
    this.load.nodeLost(node);
    await Bun.sleep(unavailableMs);
    repair();
    return this.recover(outage);
  }

  /** Suspends a node for a while. @returns ms from its resumption to the recovery */
  async stallNode(node: number, stalledMs: number): Promise<number> {
    const stalled = this.fixture.cluster.nodes[node];
    const outage = this.outages.begin('stalled', node);
    stalled?.pause();
    this.load.nodeLost(node);
    await Bun.sleep(stalledMs);
    stalled?.resume();
    return this.recover(outage);
  }

  /** The error of the service time of each node in ms, beyond the round trip that reads it. */
  async clockErrorsMs(): Promise<number[]> {
    const errors = this.fixture.cluster.nodes.map(async ({ target: { hostname, port } }) => {
      const sentMs = Date.now();
      const response = await fetch(`http://${hostname}:${port}/api/v1/time`);
      const { now } = (await response.json()) as { now: number };
      return Math.max(0, sentMs - now, now - Date.now());
    });
    return Promise.all(errors);
  }

  /** The error of the system clock of a node in ms, to a second: read from its `Date` header. */
  async systemClockErrorMs(node: number): Promise<number> {
    const { hostname, port } = this.fixture.cluster.nodes[node]?.target ?? {};
    const { headers } = await fetch(`http://${hostname}:${port}/healthz`);
    return Date.parse(headers.get('date') ?? '') - Date.now();
  }

  /** Waits until the nodes work, which must not take long (N-11). @returns ms from now */
  async waitForRecovery(nodes: readonly number[] = this.nodes): Promise<number> {
    const fromMs = Date.now();
    const ms = await this.recoveryProbe.recoveryMs(nodes);
    const toMs = Date.now();
    const recoveryMs = ms - this.checks.machineLoad.stalledMs(fromMs, toMs, nodes);
    const violation = `the recovery took ${ms.toFixed(0)} ms`;
    if (ms === Number.POSITIVE_INFINITY) this.checks.fail('the nodes do not recover');
    else if (recoveryMs > RECOVERY_LIMIT_MS + TOLERANCE_MS) {
      this.checks.failTiming(violation, fromMs, toMs);
    }
    return ms;
  }

  /** Ends the load, restarts every node and backend, and checks everything once more. */
  async close(): Promise<LoadFigures> {
    await this.load.stop();
    const { cluster, clearRedis } = this.fixture;
    const { nodes, postgres } = cluster;
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all([clearRedis(), postgres.halt().then(() => postgres.start())]);
    await Promise.all(nodes.map((node) => node.start()));
    await this.load.check();
    return this.load.figures();
  }

  /** Ends an outage. @returns ms until all nodes recovered */
  private async recover(outage: Outage): Promise<number> {
    this.outages.markRepaired(outage);
    const ms = await this.waitForRecovery();
    this.outages.markRecovered(outage);
    return ms;
  }
}
