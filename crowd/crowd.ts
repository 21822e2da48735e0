import type { TokenRequest } from '../protocol/tokens.ts';
import { Connections, type HttpResponse, type HttpTransport } from './connections.ts';
import { CrowdStats } from './crowd-stats.ts';
import { CheckRecorder, type CheckResults } from './ledger/check-results.ts';
import { Ledger } from './ledger/ledger.ts';
import { ServiceTime } from './ledger/service-time.ts';
import type { CrowdReport } from './messages.ts';
import { probeSeats } from './seat-probe.ts';
import { SimulatedViewer } from './simulated-viewer.ts';
import type { SimulationContext } from './viewer-client.ts';
import type { Random, ViewerProfile } from './viewer-profile.ts';

export interface CrowdOptions {
  /** Address of the service. */
  readonly hostname: string;
  readonly port: number;
  readonly streamId: string;
  readonly viewers: number;
  /** The profile of the viewer with this number, from 0. */
  readonly viewerProfileOf: (viewer: number, random: Random) => ViewerProfile;
  /** Wraps the HTTP transport of the viewers, for example to lose responses. */
  readonly wrapTransport?: (net: HttpTransport) => HttpTransport;
  /** Requests a viewer token (default: from the viewer API). */
  readonly requestToken?: (streamId: string, identifier: string) => Promise<HttpResponse>;
}

// Not a multiple of the interval: probes between the bursts of responses have the shortest delay.
const PROBE_MS = 483;
// Least time between two arrivals, and least duration of all arrivals: bounds the token requests.
const ARRIVAL_MS = 7;
const ARRIVALS_MIN_MS = 3_000;
const ADMISSION_CONCURRENCY = 32;
// Wait before the last checks: by then viewers have read the last events and delayed checks are due.
const LAST_CHECKS_MS = 1_500;

const localMs = () => performance.now();

/** Simulated viewers of a show over HTTP, with a ledger that checks what the service sends them. */
export class Crowd {
  readonly stats = new CrowdStats();
  private readonly checks = new CheckRecorder();
  private readonly time = new ServiceTime();
  private readonly ledger: Ledger;
  private readonly connections: Connections;
  private readonly context: SimulationContext;
  private probeTimer: Timer | undefined;
  private isOver = false;

  constructor(private readonly options: CrowdOptions) {
    const { hostname, port, streamId, wrapTransport = (net) => net, requestToken } = options;
    const { stats } = this;
    this.ledger = new Ledger(
      this.checks,
      (event) => stats.onEvent(event),
      (checked) => stats.onCount(checked),
    );
    this.connections = new Connections({ hostname, port });
    const http = wrapTransport(this.connections);
    this.context = {
      http,
      origin: this.connections.origin,
      streamId,
      crowdId: crypto.randomUUID(),
      time: this.time,
      localMs,
      ledger: this.ledger,
      stats,
      random: Math.random,
      isOver: () => this.isOver,
      requestToken: requestToken ?? ((...request) => requestTokenOverHttp(http, ...request)),
    };
  }

  /** Starts to follow the service's clock. @throws ConnectionLost when the first probe fails */
  async start(): Promise<void> {
    await this.probeClock();
    this.probeTimer = setInterval(
      () => void this.probeClock().catch(() => this.stats.requestFailed()),
      PROBE_MS,
    );
  }

  /** Lets the viewers join at a bounded pace; resolves when each has joined once. */
  async admitViewers(): Promise<void> {
    const { viewers, viewerProfileOf } = this.options;
    const { context } = this;
    const waiting = Array.from({ length: viewers }, (_, number) => number);
    const startMs = localMs();
    const paceMs = Math.max(ARRIVAL_MS, ARRIVALS_MIN_MS / viewers);
    const admitNext = async () => {
      for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
        await Bun.sleep(Math.max(0, startMs + number * paceMs - localMs()));
        if (this.isOver) return;
        const viewer = new SimulatedViewer(
          number,
          viewerProfileOf(number, context.random),
          context,
        );
        await viewer.arrive();
        void viewer.attend();
      }
    };
    await Promise.all(Array.from({ length: ADMISSION_CONCURRENCY }, admitNext));
  }

  /** Expects an event that was acknowledged to the host. @param inMs least time until it appears */
  expectEvent(key: string, inMs: number): void {
    this.ledger.expectEvent(key, this.nowMs() + inMs);
  }

  /** Runs the checks that are due and returns a report; call it four times a second. */
  report(): CrowdReport {
    if (!this.isOver) {
      this.ledger.runDueChecks(this.nowMs());
      if (this.ledger.externalViewers.needsProbe(localMs())) void probeSeats(this.context);
    }
    return this.stats.report(this.ledger, this.checks, this.isOver);
  }

  /** The results of all checks so far. */
  checkResults(): CheckResults {
    return this.checks.results();
  }

  /** Waits for the last events, runs all checks and ends the viewers; the next report is the last. */
  async finish(): Promise<void> {
    await Bun.sleep(LAST_CHECKS_MS);
    this.isOver = true;
    clearInterval(this.probeTimer);
    this.ledger.runDueChecks(this.nowMs());
    if (this.ledger.externalViewers.hasPendingChecks()) await probeSeats(this.context);
    this.ledger.externalViewers.settle();
  }

  private nowMs(): number {
    return this.time.latestMs(localMs());
  }

  private async probeClock(): Promise<void> {
    const sentMs = localMs();
    const { body } = await this.connections.request('GET', '/api/v1/time', '');
    const receivedMs = localMs();
    const { now } = JSON.parse(Buffer.from(body).toString());
    if (!this.time.update({ sentMs, receivedMs, nowMs: now })) this.ledger.clockStepped(now);
  }
}

function requestTokenOverHttp(
  http: HttpTransport,
  streamId: string,
  identifier: string,
): Promise<HttpResponse> {
  const request: TokenRequest = { stream_id: streamId, unique_user_identifier: identifier };
  return http.request('POST', '/api/v1/token', '', JSON.stringify(request));
}
