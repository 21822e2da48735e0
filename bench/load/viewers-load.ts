import type { Histogram } from 'hdr-histogram-js';
import { latencyHistogram, record } from './latency.ts';
import { openConnections, type PersistentConnection } from './persistent-connections.ts';
import type { ViewersRequests } from './viewers-requests.ts';

export interface SendResult {
  readonly sent: number;
  /** Time from the first request to the last response. */
  readonly seconds: number;
  /** Number of 204 responses, by batch. */
  readonly accepted: readonly number[];
  /** The first unexpected status or closed connection; null when there was none. */
  readonly incorrect: string | null;
  /** Latencies from the planned time of a request. */
  readonly latencies: Histogram;
  /** Times from the planned time of a request to its sending. */
  readonly sendDelays: Histogram;
}

/**
 * Sends each request of the viewers once. A viewer always uses the same connection, which viewers
 * share when there are fewer connections than viewers.
 */
export class ViewersLoad {
  private connections: PersistentConnection[] = [];
  private onResponse: (connection: PersistentConnection, status: number) => void = () => {};

  async connect(url: string, count: number): Promise<void> {
    this.connections = await openConnections(url, count, (connection, response) =>
      this.onResponse(connection, response?.status ?? 0),
    );
  }

  /** Sends the next request after each response, until the time is over or all are sent. */
  sendAsFastAsPossible(requests: ViewersRequests, seconds: number): Promise<SendResult> {
    const run = new Run(requests, seconds * 1_000);
    const step = this.connections.length;
    if (requests.viewers % step !== 0) throw new Error('viewers are no multiple of connections');
    const sendNext = (connection: PersistentConnection, request: number) => {
      if (request < requests.count && run.continues()) {
        run.send(connection, request, performance.now());
      }
    };
    this.onResponse = (connection, status) => {
      const { request } = connection;
      // Send before counting the response, or the run could end too early.
      sendNext(connection, request + step);
      run.receive(request, status);
    };
    for (const [at, connection] of this.connections.entries()) sendNext(connection, at);
    return run.result();
  }

  /** Sends at a fixed rate for `withinMs`; a request waits for the previous one on its connection. */
  async sendWithin(requests: ViewersRequests, withinMs: number): Promise<SendResult> {
    const run = new Run(requests, Number.POSITIVE_INFINITY);
    const waiting = new Map<PersistentConnection, number[]>();
    const stepMs = withinMs / requests.count;
    const fromMs = performance.now();
    const send = (connection: PersistentConnection, request: number) =>
      run.send(connection, request, fromMs + request * stepMs);
    this.onResponse = (connection, status) => {
      const { request } = connection;
      connection.request = NO_REQUEST;
      const next = waiting.get(connection)?.shift();
      if (next !== undefined) send(connection, next);
      run.receive(request, status);
    };
    for (let next = 0; next < requests.count; await new Promise(setImmediate)) {
      const nowMs = performance.now();
      for (; next < requests.count && fromMs + next * stepMs <= nowMs; next++) {
        const connection = this.connections[next % this.connections.length] as PersistentConnection;
        if (connection.request === NO_REQUEST) send(connection, next);
        else waiting.set(connection, [...(waiting.get(connection) ?? []), next]);
      }
    }
    return run.result();
  }
}

/** Marks a connection without a request in progress. */
const NO_REQUEST = -1;

/** One run of requests, with its measurements. */
class Run {
  private readonly fromMs = performance.now();
  private readonly plannedMs: Float64Array;
  private readonly accepted: number[] = [];
  private readonly latencies = latencyHistogram();
  private readonly sendDelays = latencyHistogram();
  private readonly finished = Promise.withResolvers<void>();
  private incorrect: string | null = null;
  private sent = 0;
  private responses = 0;
  private lastMs = 0;

  constructor(
    private readonly requests: ViewersRequests,
    private readonly durationMs: number,
  ) {
    this.plannedMs = new Float64Array(requests.count);
  }

  continues(): boolean {
    return this.sent < this.requests.count && performance.now() - this.fromMs < this.durationMs;
  }

  send(connection: PersistentConnection, request: number, plannedMs: number): void {
    this.sent++;
    this.plannedMs[request] = plannedMs;
    connection.request = request;
    connection.send(this.requests.bytesOf(request));
    record(this.sendDelays, performance.now() - plannedMs);
  }

  receive(request: number, status: number): void {
    this.lastMs = performance.now();
    record(this.latencies, this.lastMs - (this.plannedMs[request] as number));
    const batch = this.requests.batchOf(request);
    if (status === 204) this.accepted[batch] = (this.accepted[batch] ?? 0) + 1;
    const expected = this.requests.statusOf(request);
    if (status !== expected)
      this.incorrect ??= `${status || 'a closed connection'} instead of ${expected}, in batch ${batch}`;
    this.responses++;
    if (this.responses === this.sent && !this.continues()) this.finished.resolve();
  }

  async result(): Promise<SendResult> {
    await this.finished.promise;
    const { sent, accepted, incorrect, latencies, sendDelays } = this;
    const seconds = (this.lastMs - this.fromMs) / 1_000;
    return { sent, seconds, accepted, incorrect, latencies, sendDelays };
  }
}
