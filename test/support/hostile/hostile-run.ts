import { createSocket } from 'node:dgram';
import { seededRandom } from '../seeded-random.ts';
import { until } from '../until.ts';
import { type Exchange, type ExchangeResult, exchange } from './raw-exchange.ts';
import { type HostileRequest, hostileRequest, type Kind } from './requests.ts';
import { type Target, type Usage, usagesOf } from './target.ts';
import { differenceOf, violationsOf } from './verdict.ts';
import { type Accounts, createWorld, endWorld, type World } from './world.ts';

export interface HostileOptions {
  readonly requests: number;
  readonly seed: number;
  /** The number of the first request, to repeat a part of a run. */
  readonly from?: number;
  /** How long the service rests for each measurement, ms. */
  readonly restMs?: number;
  readonly onProgress?: (progress: HostileProgress) => void;
}

/** After a block of requests, or at rest after a tenth of all of them. */
export interface HostileProgress {
  readonly done: number;
  /** The time in which they were sent. */
  readonly sendingMs: number;
  /** Of each node. */
  readonly usages: readonly Usage[];
  readonly isAtRest: boolean;
}

/** A request to which the service responded wrongly. */
export interface Violation {
  /** With the seed, it makes the request again. */
  readonly number: number;
  readonly label: string;
  readonly violation: string;
  readonly sent: string;
}

export interface HostileReport {
  readonly requests: number;
  readonly violations: readonly Violation[];
  /** The number of responses by kind of request and status; `none`: the connection ended without one. */
  readonly statuses: ReadonlyMap<Kind, ReadonlyMap<string, number>>;
  /** Of each node at rest: before the first request, and after each tenth; of a short run only at its end. */
  readonly usages: readonly (readonly Usage[])[];
}

/** Requests for which one set of resources is made. Some requests delete them. */
const BLOCK = 2_000;
/** Blocks for which two accounts are used: each makes a token and a member, of at most 100. */
const BLOCKS_OF_ACCOUNTS = 25;
const LANES = 64;
const PAGES = ['/', '/studio', '/studio/present/any', '/watch/any'];
const TENTHS = 10;
/** A run with fewer requests is measured at rest only once. */
const MEASURABLE_REQUESTS = 200_000;
/** Requests that stop take 12 s each, so they run beside the others; no more than this at once. */
const SLOW_MAX = 200;
const VIOLATIONS_MAX = 200;
/**
 * How long the service rests for a measurement, which takes the lowest value: what is open closes, and allocators give
 * memory back at times of their own. Single values differed by up to 35 MB.
 */
const REST_MS = 30_000;
const SAMPLE_EVERY_MS = 1_000;

/** Sends hostile requests to a service, which must be fresh, and checks what it does. */
export async function runHostile(target: Target, options: HostileOptions): Promise<HostileReport> {
  const run = new HostileRun(target, options);
  await run.run();
  return run.result();
}

class HostileRun {
  private readonly violations: Violation[] = [];
  private readonly statuses = new Map<Kind, Map<string, number>>();
  private readonly usages: Usage[][] = [];
  private sendingMs = 0;
  private readonly logsRead: number[];
  private readonly slow = new Set<Promise<void>>();

  constructor(
    private readonly target: Target,
    private readonly options: HostileOptions,
  ) {
    this.logsRead = target.nodes.map(() => 0);
  }

  async run(): Promise<void> {
    const { options } = this;
    let accounts = await this.newAccounts();
    await this.openConnections(accounts.main.token);
    await this.buildPages();
    await this.measureAtRest(0);
    const from = options.from ?? 0;
    const end = from + options.requests;
    for (let first = from, block = 1; first < end; first += BLOCK, block++) {
      const last = Math.min(first + BLOCK, end);
      if (block % BLOCKS_OF_ACCOUNTS === 0) accounts = await this.newAccounts();
      const startedMs = performance.now();
      await this.runBlock(accounts, first, last);
      this.sendingMs += performance.now() - startedMs;
      const done = last - from;
      this.report(done, usagesOf(this.target), false);
      if (this.isMeasured(done)) await this.measureAtRest(done);
    }
  }

  private isMeasured(done: number): boolean {
    const { requests } = this.options;
    if (requests < MEASURABLE_REQUESTS) return done === requests;
    return Math.floor((done * TENTHS) / requests) >= this.usages.length;
  }

  private async measureAtRest(done: number): Promise<void> {
    await Promise.all(this.slow);
    const { restMs = REST_MS } = this.options;
    let usages = usagesOf(this.target);
    for (let waitedMs = 0; waitedMs < restMs; waitedMs += SAMPLE_EVERY_MS) {
      await Bun.sleep(SAMPLE_EVERY_MS);
      usages = lowestOf(usages, usagesOf(this.target));
    }
    this.usages.push(usages);
    this.report(done, usages, true);
  }

  private report(done: number, usages: readonly Usage[], isAtRest: boolean): void {
    const { sendingMs } = this;
    this.options.onProgress?.({ done, sendingMs, usages, isAtRest });
  }

  result(): HostileReport {
    const { violations, statuses, usages } = this;
    return { requests: this.options.requests, violations, statuses, usages };
  }

  private async newAccounts(): Promise<Accounts> {
    const create = (name: string) =>
      this.target.createAccount(`${name}-${crypto.randomUUID()}@example.org`);
    return { main: await create('main'), other: await create('other') };
  }

  /**
   * Waits until each node answers as many requests at once as are sent to it. While three nodes opened their
   * connections to PostgreSQL on two slow cores, their first calls took longer than a call may.
   */
  private async openConnections(token: string): Promise<void> {
    const headers = { Authorization: `Token ${token}` };
    for (const { url } of this.target.nodes) {
      await until(`${url} answers`, async () => {
        const requests = Array.from({ length: LANES }, () =>
          fetch(`${url}/studio/v1/webhooks`, { headers }),
        );
        return (await Promise.all(requests)).every(({ status }) => status === 200);
      });
    }
  }

  /** A page is built at its first request (30 MB), which in a run may come late. */
  private async buildPages(): Promise<void> {
    for (const { url } of this.target.nodes) {
      for (const path of PAGES) {
        await until(`${url}${path} is built`, async () => {
          const response = await fetch(url + path);
          await response.bytes();
          return response.ok;
        });
      }
    }
  }

  private async runBlock(accounts: Accounts, first: number, last: number): Promise<void> {
    const world = await createWorld(this.target, accounts);
    let next = first;
    const lane = async () => {
      while (next < last) await this.runOrStart(world, next++);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    await endWorld(this.target, accounts, world);
    await this.checkService();
    this.checkLogs(world, last);
  }

  private async runOrStart(world: World, number: number): Promise<void> {
    const random = seededRandom((this.options.seed * 1_000_003 + number) | 0);
    const request = hostileRequest(world, random);
    const done = this.runRequest(world, number, request, random);
    if (request.kind !== 'slow' || this.slow.size >= SLOW_MAX) return done;
    const tracked = done.finally(() => this.slow.delete(tracked));
    this.slow.add(tracked);
  }

  private async runRequest(
    world: World,
    number: number,
    request: HostileRequest,
    random: () => number,
  ): Promise<void> {
    const { target } = this;
    const node = target.nodes[
      Math.floor(random() * target.nodes.length)
    ] as Target['nodes'][number];
    if (request.kind === 'srt') {
      await sendDatagram(target.srtPort, request);
      this.count(request.kind, 'none');
      return;
    }
    const url = new URL(request.kind === 'rtmp' ? `http://127.0.0.1:${target.rtmpPort}` : node.url);
    const result = await exchange(url, request);
    for (const { status } of result.responses) this.count(request.kind, String(status));
    if (result.responses.length === 0) this.count(request.kind, 'none');
    const found = [...violationsOf(request, result, world)];
    if (request.relayed) found.push(...(await compare(url, request, result, request.relayed)));
    for (const violation of found) this.addViolation({ ...request, number, violation });
  }

  private addViolation({
    number,
    label,
    violation,
    parts,
  }: HostileRequest & { number: number; violation: string }): void {
    if (this.violations.length >= VIOLATIONS_MAX) return;
    const texts = parts.filter((part) => typeof part !== 'number');
    const sent = texts.map((part) => Buffer.from(part).toString('latin1').slice(0, 2_000)).join('');
    this.violations.push({ number, label, violation, sent });
  }

  private count(kind: Kind, status: string): void {
    const counts = this.statuses.get(kind) ?? new Map<string, number>();
    this.statuses.set(kind, counts.set(status, (counts.get(status) ?? 0) + 1));
  }

  /** Whether each node still answers. */
  private async checkService(): Promise<void> {
    for (const { url } of this.target.nodes) {
      const response = await fetch(`${url}/readyz`).catch((error: Error) => error);
      if (response instanceof Response && response.status === 200) continue;
      throw new Error(`${url} is not ready after hostile requests: ${response}`);
    }
  }

  /** Looks for credentials and defects in what the nodes logged since the last call. */
  private checkLogs(world: World, number: number): void {
    for (const [index, node] of this.target.nodes.entries()) {
      const log = node.log();
      const added = log.slice(this.logsRead[index]);
      this.logsRead[index] = log.length;
      const base = { number, label: 'the log', sent: '' };
      if (world.unlogged.some((credential) => added.includes(credential))) {
        this.violations.push({ ...base, violation: 'a credential is in the log' });
      }
      // Levels of pino: 50 is an error, 60 a fatal one.
      const defect = /^.*"level":(?:50|60|"error"|"fatal").*$/m.exec(added);
      if (defect)
        this.violations.push({ ...base, violation: `logged: ${defect[0].slice(0, 1_000)}` });
    }
  }
}

function lowestOf(ones: readonly Usage[], others: readonly Usage[]): Usage[] {
  return ones.map(({ memoryMb, openFiles }, node) => {
    const other = others[node] as Usage;
    return {
      memoryMb: Math.min(memoryMb, other.memoryMb),
      openFiles: Math.min(openFiles, other.openFiles),
    };
  });
}

/** How often a request and its twin must differ: another request may ban a viewer between the two. */
const DIFFERENCES = 3;

/** Compares the response with that to the twin of the request, again when they differ. */
async function compare(
  url: URL,
  request: HostileRequest,
  result: ExchangeResult,
  relayed: Exchange,
): Promise<readonly string[]> {
  let difference = differenceOf(result, await exchange(url, relayed));
  for (let count = 1; count < DIFFERENCES && difference.length > 0; count++) {
    const again = await exchange(url, request);
    difference = differenceOf(again, await exchange(url, relayed));
  }
  return difference;
}

function sendDatagram(port: number, { parts }: HostileRequest): Promise<void> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    const bytes = Buffer.from(parts[0] as Uint8Array).subarray(0, 1_400);
    socket.send(bytes, port, '127.0.0.1', () => socket.close(() => resolve()));
  });
}
