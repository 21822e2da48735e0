import type { Environment } from '../../../../sdk/environment.ts';
import type { Scheduler } from './scheduler.ts';
import { CarriedStream } from './simulated-stream.ts';
import type { VirtualMachine } from './virtual-environment.ts';

/** A request, as it went. Times are true, in ms. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly sentMs: number;
  /** What the service said, whether it came back or not; null: it did not hear of it. */
  status: number | null;
  /** Whether what the service said came back. */
  isAnswered: boolean;
  /** When the machine had its headers, or gave it up. */
  overMs: number | null;
}

/** What a network is like at the moment. */
export interface NetworkConditions {
  /** One way, ms: between these. */
  readonly leastDelayMs: number;
  readonly mostDelayMs: number;
  /** Of every message, how likely it is lost. */
  readonly loss: number;
  /** `refuses`: it fails at once; `silent`: nothing comes, and nothing says so. */
  readonly link: 'up' | 'refuses' | 'silent';
  /** A proxy keeps event streams to itself. */
  readonly isBuffering: boolean;
}

const FAIR: NetworkConditions = {
  leastDelayMs: 5,
  mostDelayMs: 60,
  loss: 0,
  link: 'up',
  isBuffering: false,
};

/** The way of one machine to the service, which delays, loses and breaks. */
export class VirtualNetwork {
  readonly requests: SentRequest[] = [];
  weather: NetworkConditions = FAIR;
  /** Whose messages come in here. */
  machine: VirtualMachine | null = null;
  readonly #changes = new Set<Partial<NetworkConditions>>();
  readonly #streams = new Set<CarriedStream>();

  constructor(
    readonly scheduler: Scheduler,
    readonly random: () => number,
    readonly service: Environment['fetch'],
  ) {}

  readonly fetch = (url: string, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET', signal } = init;
    const { pathname: path } = new URL(url);
    const { nowMs: sentMs } = this.scheduler;
    const unknown = { status: null, isAnswered: false, overMs: null };
    const request: SentRequest = { method, path, sentMs, ...unknown };
    this.requests.push(request);
    return new Promise<Response>((resolve, reject) => {
      const isOver = () => request.overMs !== null;
      const over = (then: () => void) =>
        this.machine?.receive(() => {
          if (isOver()) return;
          request.overMs = this.scheduler.nowMs;
          then();
        });
      const fail = () => over(() => reject(new TypeError('The network failed.')));
      const giveUp = new AbortController();
      const onAbort = () => {
        over(() => reject(signal?.reason));
        this.scheduler.after(this.#delayMs(), () => giveUp.abort(signal?.reason));
      };
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#carry(fail, async () => {
        const answer = await this.service(url, { ...init, signal: giveUp.signal }).catch(fail);
        if (!(answer instanceof Response)) return;
        request.status = answer.status;
        const isStream = answer.headers.get('content-type') === 'text/event-stream';
        const response = isStream ? this.#carried(answer) : answer;
        this.#carry(fail, () =>
          over(() => {
            request.isAnswered = true;
            resolve(response);
          }),
        );
      });
    });
  };

  /** From now on it is like this, too. @returns what ends it */
  change(change: Partial<NetworkConditions>): () => void {
    const blend = () => {
      this.weather = Object.assign({}, FAIR, ...this.#changes);
    };
    this.#changes.add(change);
    blend();
    return () => {
      this.#changes.delete(change);
      blend();
    };
  }

  /** Breaks the event streams that come in here. */
  cutStreams(): void {
    for (const stream of [...this.#streams]) stream.cut(new TypeError('The connection broke.'));
  }

  /** One way: in time, or never. */
  #carry(fail: () => void, arrive: () => void): void {
    const { weather, random } = this;
    if (weather.link === 'refuses') {
      this.scheduler.after(1, fail);
    } else if (weather.link === 'up' && random() >= weather.loss) {
      this.scheduler.after(this.#delayMs(), arrive);
    } else if (random() < 0.3) {
      // What is lost is sometimes heard of.
      this.scheduler.after(this.#delayMs() * 5, fail);
    }
  }

  #delayMs(): number {
    const { leastDelayMs, mostDelayMs } = this.weather;
    // Mostly near the least, as delays are.
    return leastDelayMs + (mostDelayMs - leastDelayMs) * this.random() ** 3;
  }

  /** An event stream that comes in here, a little later. */
  #carried(response: Response): Response {
    const stream = new CarriedStream(response.body as ReadableStream<Uint8Array<ArrayBuffer>>, {
      scheduler: this.scheduler,
      delayMs: () => this.#delayMs(),
      isThrough: () => this.weather.link === 'up' && !this.weather.isBuffering,
      receive: (run) => this.machine?.receive(run),
      onOver: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return new Response(stream.body, response);
  }
}
