import type { TokenRequest } from '../protocol/tokens.ts';
import { Connections, type HttpAnswer, type Net } from './connections.ts';
import { CrowdStats } from './crowd-stats.ts';
import { Ledger } from './ledger/ledger.ts';
import { ServiceTime } from './ledger/service-time.ts';
import { Verdictbook, type Verdicts } from './ledger/verdict.ts';
import type { CrowdReport } from './messages.ts';
import { probeSeats } from './seat-probe.ts';
import { Viewer } from './viewer.ts';
import type { SimulationContext } from './viewer-client.ts';
import type { Random, ViewerProfile } from './viewer-profile.ts';

export interface CrowdOptions {
  /** Where the service is. */
  readonly hostname: string;
  readonly port: number;
  readonly streamId: string;
  readonly viewers: number;
  /** What the viewer with this number is like. */
  readonly viewerProfileOf: (viewer: number, random: Random) => ViewerProfile;
  /** By which way the viewers reach the service; straight when it is left out. */
  readonly wayOf?: (net: Net) => Net;
  /** Asks for a viewer token, as the service answers it; by the service's own port when it is left out. */
  readonly askForToken?: (streamId: string, identifier: string) => Promise<HttpAnswer>;
}

// Between two bursts of an interval's answers the clock is read most exactly.
const PROBE_MS = 483;
// Arrivals: quick enough to see, slow enough for everybody to get a token.
const ARRIVAL_MS = 7;
const ARRIVALS_LEAST_MS = 3_000;
const DOORS = 32;
// What the host was last told of is read, and settled, by then.
const LAST_CHECKS_MS = 1_500;

const localMs = () => performance.now();

/** Viewers of a show over HTTP, and their own books of what the service told them. */
export class Crowd {
  readonly stats = new CrowdStats();
  private readonly book = new Verdictbook();
  private readonly time = new ServiceTime();
  private readonly ledger: Ledger;
  private readonly straight: Connections;
  private readonly world: SimulationContext;
  private probing: Timer | undefined;
  private isOver = false;

  constructor(private readonly options: CrowdOptions) {
    const { hostname, port, streamId, wayOf = (net) => net, askForToken } = options;
    const { stats } = this;
    this.ledger = new Ledger(
      this.book,
      (event) => stats.happened(event),
      (checked) => stats.counted(checked),
    );
    this.straight = new Connections({ hostname, port });
    const http = wayOf(this.straight);
    this.world = {
      http,
      origin: this.straight.origin,
      streamId,
      crowdId: crypto.randomUUID(),
      time: this.time,
      localMs,
      ledger: this.ledger,
      stats,
      random: Math.random,
      isOver: () => this.isOver,
      askForToken: askForToken ?? ((...asked) => tokenByPort(http, ...asked)),
    };
  }

  /** Looks at the service's clock, from here on. @throws ConnectionLost at the first look */
  async begin(): Promise<void> {
    await this.probe();
    this.probing = setInterval(
      () => void this.probe().catch(() => this.stats.troubled()),
      PROBE_MS,
    );
  }

  /** Lets everybody in, a few at a time through each door; resolves when all have come once. */
  async letIn(): Promise<void> {
    const { viewers, viewerProfileOf } = this.options;
    const { world } = this;
    const waiting = Array.from({ length: viewers }, (_, number) => number);
    const fromMs = localMs();
    const paceMs = Math.max(ARRIVAL_MS, ARRIVALS_LEAST_MS / viewers);
    const door = async () => {
      for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
        await Bun.sleep(Math.max(0, fromMs + number * paceMs - localMs()));
        if (this.isOver) return;
        const viewer = new Viewer(number, viewerProfileOf(number, world.random), world);
        await viewer.arrive();
        void viewer.attend();
      }
    };
    await Promise.all(Array.from({ length: DOORS }, door));
  }

  /** The service acknowledged something to the host: in so many ms this event must be in the feed. */
  promised(key: string, inMs: number): void {
    this.ledger.promised(key, this.nowMs() + inMs);
  }

  /** Makes the checks that are due, and says how things stand: four times a second. */
  report(): CrowdReport {
    if (!this.isOver) {
      this.ledger.settle(this.nowMs());
      if (this.ledger.others.needsProbe(localMs())) void probeSeats(this.world);
    }
    return this.stats.report(this.ledger, this.book, this.isOver);
  }

  /** How the checks stand. */
  verdicts(): Verdicts {
    return this.book.verdicts();
  }

  /** Makes the last checks and sends everybody home; what is reported next is the end. */
  async finish(): Promise<void> {
    await Bun.sleep(LAST_CHECKS_MS);
    this.isOver = true;
    clearInterval(this.probing);
    this.ledger.settle(this.nowMs());
    if (this.ledger.others.isAsked()) await probeSeats(this.world);
    this.ledger.others.settle();
  }

  private nowMs(): number {
    return this.time.latestMs(localMs());
  }

  private async probe(): Promise<void> {
    const sentMs = localMs();
    const { body } = await this.straight.request('GET', '/api/v1/time', '');
    const receivedMs = localMs();
    const { now } = JSON.parse(Buffer.from(body).toString());
    if (!this.time.learn({ sentMs, receivedMs, nowMs: now })) this.ledger.clockStepped(now);
  }
}

function tokenByPort(http: Net, streamId: string, identifier: string): Promise<HttpAnswer> {
  const request: TokenRequest = { stream_id: streamId, unique_user_identifier: identifier };
  return http.request('POST', '/api/v1/token', '', JSON.stringify(request));
}
