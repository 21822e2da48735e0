import type { Scheduler } from '../scheduler.ts';
import type { Balancer, Exchange, Slot } from './balancer.ts';
import { forwardStream } from './stream-forwarding.ts';

/** A request and what came of it. Times are true, Unix ms. */
export interface SentRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string | null;
  readonly sentMs: number;
  /** When it reached a node; null: never. */
  arrivedMs: number | null;
  /** The slot of that node. */
  slot: number | null;
  /** When the node responded, and with which status; null: never. */
  respondedMs: number | null;
  respondedStatus: number | null;
  /** The response is an event stream. */
  isStream: boolean;
  /** The status that the client received; null: none. */
  status: number | null;
  /** When the client had the response, or gave up. */
  endedMs: number | null;
  retryAfter: string | null;
  /** The node's process ended before it responded. */
  wasReset: boolean;
}

/** Sees what clients send and receive. */
export interface Observer {
  onSent(request: SentRequest): void;
  /** @param text the body that the client received; empty without a response */
  onEnd(request: SentRequest, text: string): void;
  /** A part of an event stream, as a node sent it. */
  onStreamData(request: SentRequest, text: string): void;
}

export interface ClientNetworkOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  readonly balancer: Balancer;
  readonly observer: Observer;
  /** Probability that a request takes a new connection, to any node. */
  readonly roaming: number;
  /** Runs a callback on the client's machine. */
  readonly receive: (run: () => void) => void;
}

/** The client's end of a request. */
interface Ending {
  readonly fail: () => void;
  readonly succeed: (status: number, headers: Headers, body: string | ReadableStream) => void;
}

const MIN_DELAY_MS = 2;
const DELAY_SPREAD_MS = 40;
/** How long a node without a process takes to refuse a connection, at most. */
const REFUSAL_MS = 5;
/** Probability that the sender learns of a lost message. */
const REPORTED_LOSS = 0.3;
export const ORIGIN = 'https://live.example';

/** The network between one client and the nodes. */
export class ClientNetwork {
  /** `refuses`: connections fail at once; `silent`: nothing arrives in either direction. */
  link: 'up' | 'refuses' | 'silent' = 'up';
  /** Probability that a message is lost. */
  loss = 0;
  /** Further delay of each message, ms. */
  slownessMs = 0;
  private preferred: number | null = null;
  private readonly openStreams = new Set<() => void>();

  constructor(private readonly options: ClientNetworkOptions) {}

  readonly fetch = (url: string, init: RequestInit = {}): Promise<Response> => {
    const { scheduler, observer, receive } = this.options;
    const { signal } = init;
    const request = newRequest(url, init, scheduler.nowMs);
    observer.onSent(request);
    return new Promise<Response>((resolve, reject) => {
      const end = (text: string, then: () => void) =>
        receive(() => {
          if (request.endedMs !== null) return;
          request.endedMs = scheduler.nowMs;
          observer.onEnd(request, text);
          then();
        });
      const ending: Ending = {
        fail: () => end('', () => reject(new TypeError('The network failed.'))),
        succeed: (status, headers, body) => {
          if (request.endedMs === null) request.status = status;
          const text = typeof body === 'string' ? body : '';
          const isEmpty = status === 204 || status === 304;
          end(text, () => resolve(new Response(isEmpty ? null : body, { status, headers })));
        },
      };
      const abort = new AbortController();
      const onAbort = () => {
        end('', () => reject(signal?.reason));
        scheduler.after(this.delayMs(), () => abort.abort(signal?.reason));
      };
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.transmit(ending.fail, () => this.arrive(request, url, init, abort.signal, ending));
    });
  };

  /** Closes the client's connections, as a change of its network does. */
  breakConnections(): void {
    this.preferred = null;
    for (const breakStream of [...this.openStreams]) breakStream();
  }

  private arrive(
    request: SentRequest,
    url: string,
    init: RequestInit,
    signal: AbortSignal,
    ending: Ending,
  ): void {
    const { scheduler, balancer, random } = this.options;
    const slot = balancer.choose(random() < this.options.roaming ? null : this.preferred);
    if (slot === null) {
      scheduler.after(random() * REFUSAL_MS, ending.fail);
      return;
    }
    this.preferred = slot.number;
    request.slot = slot.number;
    request.arrivedMs = scheduler.nowMs;
    const exchange: Exchange = {
      onReset: () => {
        request.wasReset = true;
        scheduler.after(this.delayMs(), ending.fail);
      },
    };
    slot.exchanges.add(exchange);
    slot.machine.run(() => {
      const respond = async (response: Response) => {
        slot.exchanges.delete(exchange);
        request.respondedMs = scheduler.nowMs;
        request.respondedStatus = response.status;
        request.retryAfter = response.headers.get('retry-after');
        const { status, headers } = response;
        request.isStream = headers.get('content-type') === 'text/event-stream';
        const body =
          request.isStream && response.body
            ? this.forward(request, response.body, slot, signal)
            : await response.text();
        this.transmit(ending.fail, () => ending.succeed(status, new Headers(headers), body));
      };
      // The node learns of an abort later, over the network.
      const { signal: _, ...sent } = init;
      void slot.node.handle(url, sent).then(respond, () => exchange.onReset());
    });
  }

  private forward(
    request: SentRequest,
    body: ReadableStream<Uint8Array>,
    slot: Slot,
    signal: AbortSignal,
  ): ReadableStream<Uint8Array> {
    const { scheduler, observer, receive } = this.options;
    const { stream, breakStream } = forwardStream(body, {
      scheduler,
      delayMs: () => this.delayMs(),
      isConnected: () => this.link === 'up',
      receive,
      onServer: (run) => slot.machine.run(run),
      onData: (text) => observer.onStreamData(request, text),
      onEnd: () => {
        this.openStreams.delete(breakStream);
        slot.exchanges.delete(exchange);
      },
    });
    const exchange: Exchange = { onReset: () => scheduler.after(this.delayMs(), breakStream) };
    slot.exchanges.add(exchange);
    this.openStreams.add(breakStream);
    signal.addEventListener('abort', breakStream, { once: true });
    return stream;
  }

  private transmit(fail: () => void, arrive: () => void): void {
    const { scheduler, random } = this.options;
    if (this.link === 'refuses') scheduler.after(1, fail);
    else if (this.link === 'up' && (this.loss === 0 || random() >= this.loss)) {
      scheduler.after(this.delayMs(), arrive);
    } else if (random() < REPORTED_LOSS) scheduler.after(this.delayMs() * 5, fail);
  }

  private delayMs(): number {
    const { random } = this.options;
    // Mostly near the minimum, as real delays are.
    return MIN_DELAY_MS + DELAY_SPREAD_MS * random() ** 3 + this.slownessMs * random();
  }
}

function newRequest(url: string, init: RequestInit, sentMs: number): SentRequest {
  return {
    ...{ method: init.method ?? 'GET', path: url.slice(ORIGIN.length), sentMs },
    body: typeof init.body === 'string' ? init.body : null,
    ...{ arrivedMs: null, slot: null, respondedMs: null, respondedStatus: null },
    ...{ status: null, endedMs: null, retryAfter: null, wasReset: false },
    isStream: false,
  };
}
