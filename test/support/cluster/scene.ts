import type { Judgement } from './checks.ts';
import type { Fixture } from './fixture.ts';
import { Load, type LoadFigures } from './load.ts';
import { type Outage, Outages, RIGHT_AGAIN_MS } from './outages.ts';
import { Recovery } from './recovery.ts';
import { TOLERANCE_MS } from './response-checker.ts';

/** Nodes under load, and the ways to break them: every one of them tells the oracle. */
export class Scene {
  readonly outages = new Outages();
  private constructor(
    readonly fixture: Fixture,
    readonly random: () => number,
  ) {}

  private load!: Load;
  private recovery!: Recovery;

  static async open(fixture: Fixture, random: () => number): Promise<Scene> {
    const scene = new Scene(fixture, random);
    const { cluster, apiToken } = fixture;
    const nodes = cluster.nodes.map(({ target }) => target);
    const { outages } = scene;
    scene.recovery = await Recovery.open({ nodes, apiToken });
    scene.load = await Load.open({ nodes, apiToken, outages, random });
    await scene.load.begin();
    return scene;
  }

  get nodes(): number[] {
    return [...this.fixture.cluster.nodes.keys()];
  }

  get judgement(): Judgement {
    return this.load.judgement;
  }

  /** A number of a node, by chance. */
  anyNode(): number {
    return Math.floor(this.random() * this.nodes.length);
  }

  sleepUpTo(ms: number): Promise<void> {
    return Bun.sleep(this.random() * ms);
  }

  /** Resolves when a quiz is open, and is for so long still. */
  quizOpen(leftMs: number): Promise<void> {
    return this.load.quizOpen(leftMs);
  }

  /** Breaks a backend, waits, and repairs it. @returns ms from the repair until all is right */
  async backendUnavailable(
    what: 'redis' | 'postgres',
    breakIt: () => void | Promise<void>,
    unavailableMs: number,
    repair: () => void | Promise<void>,
  ): Promise<number> {
    const outage = this.outages.begin(what);
    await breakIt();
    await Bun.sleep(unavailableMs);
    await repair();
    return this.recovered(outage);
  }

  /** `kill -9`, and a new start. @returns ms until the others, and then it too, did everything */
  async killNode(node: number, downMs: number): Promise<number[]> {
    const killed = this.fixture.cluster.nodes[node];
    const outage = this.outages.begin('killed', node);
    const gone = killed?.kill();
    this.load.nodeLost(node);
    await gone;
    this.load.nodeEnded(node);
    const othersMs = await this.rightAgain(this.nodes.filter((other) => other !== node));
    await Bun.sleep(downMs);
    await killed?.start();
    return [othersMs, await this.recovered(outage)];
  }

  /** Tells a node to stop and starts it again. @returns ms until all was right after that */
  async restartNode(node: number): Promise<number> {
    const restarted = this.fixture.cluster.nodes[node];
    const outage = this.outages.begin('stopped', node);
    await restarted?.stop();
    this.load.nodeEnded(node);
    await restarted?.start();
    return this.recovered(outage);
  }

  /** Cuts a node from Redis, and heals it. @returns ms from the healing until all is right */
  async cutNode(
    node: number,
    cut: () => void,
    unavailableMs: number,
    heal: () => void,
  ): Promise<number> {
    const outage = this.outages.begin('cut', node);
    cut();
    this.load.nodeLost(node);
    await Bun.sleep(unavailableMs);
    heal();
    return this.recovered(outage);
  }

  /** Keeps a node from running for a while. @returns ms until all was right after that */
  async stallNode(node: number, stalledMs: number): Promise<number> {
    const stalled = this.fixture.cluster.nodes[node];
    const outage = this.outages.begin('stalled', node);
    stalled?.pause();
    this.load.nodeLost(node);
    await Bun.sleep(stalledMs);
    stalled?.resume();
    return this.recovered(outage);
  }

  /** How far the service time of each node is from the real time, in ms, by a round trip. */
  async clockErrors(): Promise<number[]> {
    const errors = this.fixture.cluster.nodes.map(async ({ target: { hostname, port } }) => {
      const sentMs = Date.now();
      const response = await fetch(`http://${hostname}:${port}/api/v1/time`);
      const { now } = (await response.json()) as { now: number };
      return Math.max(0, sentMs - now, now - Date.now());
    });
    return Promise.all(errors);
  }

  /** How far the system clock of a node is from ours, in ms, by the whole seconds of its `Date`. */
  async systemClockError(node: number): Promise<number> {
    const { hostname, port } = this.fixture.cluster.nodes[node]?.target ?? {};
    const { headers } = await fetch(`http://${hostname}:${port}/healthz`);
    return Date.parse(headers.get('date') ?? '') - Date.now();
  }

  /** It is repaired. @returns ms until all is right */
  private async recovered(outage: Outage): Promise<number> {
    this.outages.over(outage);
    const ms = await this.rightAgain();
    this.outages.recovered(outage);
    return ms;
  }

  /** ms from now until these nodes do everything, which must not take long (N-11). */
  async rightAgain(nodes: readonly number[] = this.nodes): Promise<number> {
    const fromMs = Date.now();
    const ms = await this.recovery.rightAgain(nodes);
    const toMs = Date.now();
    const tookMs = ms - this.judgement.machine.stalledMs(fromMs, toMs);
    const found = `it took ${ms.toFixed(0)} ms until everything was right again`;
    if (ms === Number.POSITIVE_INFINITY) this.judgement.wrong('it is never right again');
    else if (tookMs > RIGHT_AGAIN_MS + TOLERANCE_MS) this.judgement.late(found, fromMs, toMs);
    return ms;
  }

  /** Ends the load, starts everything anew, and reads everything once more. */
  async close(): Promise<LoadFigures> {
    await this.load.end();
    const { cluster, forget } = this.fixture;
    const { nodes, postgres } = cluster;
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all([forget(), postgres.halt().then(() => postgres.start())]);
    await Promise.all(nodes.map((node) => node.start()));
    await this.load.check();
    return this.load.figures();
  }
}
