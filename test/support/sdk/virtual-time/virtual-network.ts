import type { Environment } from '../../../../sdk/environment.ts';
import type { Scheduler } from '../../scheduler.ts';
import { SimulatedStream } from './simulated-stream.ts';
import type { VirtualMachine } from './virtual-environment.ts';

/** A request and its course. Times are true, Unix ms. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly sentMs: number;
  /** Status of the service's response, delivered or not; null: the request did not arrive. */
  status: number | null;
  isDelivered: boolean;
  /** When the headers arrived, or the machine gave up; null: neither yet. */
  endedMs: number | null;
}

export interface NetworkConditions {
  /** One-way delay, ms: from this … */
  readonly minDelayMs: number;
  /** … to this. */
  readonly maxDelayMs: number;
  /** Probability that a message is lost. */
  readonly loss: number;
  /** `refuses`: requests fail at once; `silent`: they get no response. */
  readonly link: 'up' | 'refuses' | 'silent';
  /** Whether a proxy buffers event streams. */
  readonly isBuffering: boolean;
}

const NORMAL_CONDITIONS: NetworkConditions = {
  minDelayMs: 5,
  maxDelayMs: 60,
  loss: 0,
  link: 'up',
  isBuffering: false,
};

/** The network between a machine and the service. */
export class VirtualNetwork {
  readonly requests: SentRequest[] = [];
  conditions: NetworkConditions = NORMAL_CONDITIONS;
  /** The machine that receives the responses. */
  machine: VirtualMachine | null = null;
  readonly #changes = new Set<Partial<NetworkConditions>>();
  readonly #streams = new Set<SimulatedStream>();

  constructor(
    readonly scheduler: Scheduler,
    readonly random: () => number,
    readonly service: Environment['fetch'],
  ) {}

  readonly fetch = (url: string, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET', signal } = init;
    const { pathname: path } = new URL(url);
    const { nowMs: sentMs } = this.scheduler;
    const pending = { status: null, isDelivered: false, endedMs: null };
    const request: SentRequest = { method, path, sentMs, ...pending };
    this.requests.push(request);
    return new Promise<Response>((resolve, reject) => {
      const hasEnded = () => request.endedMs !== null;
      const end = (then: () => void) =>
        this.machine?.receive(() => {
          if (hasEnded()) return;
          request.endedMs = this.scheduler.nowMs;
          then();
        });
      const fail = () => end(() => reject(new TypeError('The network failed.')));
      const controller = new AbortController();
      const onAbort = () => {
        end(() => reject(signal?.reason));
        this.scheduler.after(this.#delayMs(), () => controller.abort(signal?.reason));
      };
      if (signal?.aborted) onAbort();
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#transmit(fail, async () => {
        const sent = await this.service(url, { ...init, signal: controller.signal }).catch(fail);
        if (!(sent instanceof Response)) return;
        request.status = sent.status;
        const isStream = sent.headers.get('content-type') === 'text/event-stream';
        const response = isStream ? this.#simulateStream(sent) : sent;
        this.#transmit(fail, () =>
          end(() => {
            request.isDelivered = true;
            resolve(response);
          }),
        );
      });
    });
  };

  /** Changes some conditions. @returns a function that ends the change */
  change(change: Partial<NetworkConditions>): () => void {
    const apply = () => {
      this.conditions = Object.assign({}, NORMAL_CONDITIONS, ...this.#changes);
    };
    this.#changes.add(change);
    apply();
    return () => {
      this.#changes.delete(change);
      apply();
    };
  }

  breakStreams(): void {
    for (const stream of [...this.#streams]) stream.break(new TypeError('The connection broke.'));
  }

  /** Transmits a message one way: with a delay, or never. */
  #transmit(fail: () => void, arrive: () => void): void {
    const { conditions, random } = this;
    if (conditions.link === 'refuses') {
      this.scheduler.after(1, fail);
    } else if (conditions.link === 'up' && random() >= conditions.loss) {
      this.scheduler.after(this.#delayMs(), arrive);
    } else if (random() < 0.3) {
      // Sometimes the loss is reported to the sender.
      this.scheduler.after(this.#delayMs() * 5, fail);
    }
  }

  #delayMs(): number {
    const { minDelayMs, maxDelayMs } = this.conditions;
    // Mostly near the minimum, as real delays are.
    return minDelayMs + (maxDelayMs - minDelayMs) * this.random() ** 3;
  }

  /** Forwards an event stream over this network. */
  #simulateStream(response: Response): Response {
    const stream = new SimulatedStream(response.body as ReadableStream<Uint8Array<ArrayBuffer>>, {
      scheduler: this.scheduler,
      delayMs: () => this.#delayMs(),
      isConnected: () => this.conditions.link === 'up' && !this.conditions.isBuffering,
      receive: (run) => this.machine?.receive(run),
      onClose: () => this.#streams.delete(stream),
    });
    this.#streams.add(stream);
    return new Response(stream.body, response);
  }
}
