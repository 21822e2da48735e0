import type { Histogram } from 'hdr-histogram-js';
import { type KeptConnection, openConnections } from './kept-connections.ts';
import { latencyHistogram, record } from './latency.ts';
import type { ViewersRequests } from './viewers-requests.ts';

/** What was sent, and what came of it. */
export interface Sending {
  readonly sent: number;
  /** From the first request to the last answer. */
  readonly seconds: number;
  /** Answers that were a yes, by round. */
  readonly accepted: readonly number[];
  /** One that had another status than it should; null when none had. */
  readonly wrong: string | null;
  /** From the moment it was meant to be sent. */
  readonly latencies: Histogram;
  /** How late they were sent. */
  readonly lateness: Histogram;
}

/**
 * Connections that send requests of viewers, each once. A viewer keeps to a connection, and shares it
 * with others when there are fewer connections than viewers.
 */
export class ViewersLoad {
  private connections: KeptConnection[] = [];
  private onAnswer: (connection: KeptConnection, status: number) => void = () => {};

  async connect(url: string, count: number): Promise<void> {
    this.connections = await openConnections(url, count, (connection, status) =>
      this.onAnswer(connection, status),
    );
  }

  /** As fast as answers come, until the time is over or all is sent. */
  sendAsAnswered(requests: ViewersRequests, seconds: number): Promise<Sending> {
    const turn = new Turn(requests, seconds * 1_000);
    const step = this.connections.length;
    if (requests.viewers % step !== 0) throw new Error('the viewers do not fill the connections');
    const go = (connection: KeptConnection, request: number) => {
      if (request < requests.count && turn.goesOn()) {
        turn.send(connection, request, performance.now());
      }
    };
    this.onAnswer = (connection, status) => {
      const { request } = connection;
      // First, so that its answer is not taken for the last.
      go(connection, request + step);
      turn.answered(request, status);
    };
    for (const [at, connection] of this.connections.entries()) go(connection, at);
    return turn.done();
  }

  /** Evenly within this time, whether answers come or not; where one is awaited, the next waits. */
  async sendWithin(requests: ViewersRequests, withinMs: number): Promise<Sending> {
    const turn = new Turn(requests, Number.POSITIVE_INFINITY);
    const waiting = new Map<KeptConnection, number[]>();
    const stepMs = withinMs / requests.count;
    const fromMs = performance.now();
    const send = (connection: KeptConnection, request: number) =>
      turn.send(connection, request, fromMs + request * stepMs);
    this.onAnswer = (connection, status) => {
      const { request } = connection;
      connection.request = NONE;
      const next = waiting.get(connection)?.shift();
      if (next !== undefined) send(connection, next);
      turn.answered(request, status);
    };
    for (let next = 0; next < requests.count; await new Promise(setImmediate)) {
      const nowMs = performance.now();
      for (; next < requests.count && fromMs + next * stepMs <= nowMs; next++) {
        const connection = this.connections[next % this.connections.length] as KeptConnection;
        if (connection.request === NONE) send(connection, next);
        else waiting.set(connection, [...(waiting.get(connection) ?? []), next]);
      }
    }
    return turn.done();
  }
}

/** No request is under way. */
const NONE = -1;

class Turn {
  private readonly fromMs = performance.now();
  private readonly meantMs: Float64Array;
  private readonly accepted: number[] = [];
  private readonly latencies = latencyHistogram();
  private readonly lateness = latencyHistogram();
  private readonly over = Promise.withResolvers<void>();
  private wrong: string | null = null;
  private sent = 0;
  private answers = 0;
  private lastMs = 0;

  constructor(
    private readonly requests: ViewersRequests,
    private readonly lengthMs: number,
  ) {
    this.meantMs = new Float64Array(requests.count);
  }

  goesOn(): boolean {
    return this.sent < this.requests.count && performance.now() - this.fromMs < this.lengthMs;
  }

  send(connection: KeptConnection, request: number, meantMs: number): void {
    this.sent++;
    this.meantMs[request] = meantMs;
    connection.request = request;
    connection.send(this.requests.bytesOf(request));
    record(this.lateness, performance.now() - meantMs);
  }

  answered(request: number, status: number): void {
    this.lastMs = performance.now();
    record(this.latencies, this.lastMs - (this.meantMs[request] as number));
    const round = this.requests.roundOf(request);
    if (status === 204) this.accepted[round] = (this.accepted[round] ?? 0) + 1;
    const expected = this.requests.statusOf(request);
    if (status !== expected) this.wrong ??= `${status} instead of ${expected}, in round ${round}`;
    this.answers++;
    if (this.answers === this.sent && !this.goesOn()) this.over.resolve();
  }

  async done(): Promise<Sending> {
    await this.over.promise;
    const { sent, accepted, wrong, latencies, lateness } = this;
    const seconds = (this.lastMs - this.fromMs) / 1_000;
    return { sent, seconds, accepted, wrong, latencies, lateness };
  }
}
