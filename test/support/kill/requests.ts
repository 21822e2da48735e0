import { Connections, type HttpAnswer } from '../../../crowd/connections.ts';

export interface Target {
  readonly hostname: string;
  readonly port: number;
}

/** What became of one request. */
export interface Told {
  readonly node: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** null: the connection broke or nothing came in time, so nobody knows. */
  readonly status: number | null;
  readonly retryAfterS: number;
  /** Unix ms. */
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** A service as its clients know it. */
export interface Service {
  /** Where its nodes are. A client that gets no good answer of one turns to the next. */
  readonly nodes: readonly Target[];
  /** A client waits this long for an answer; without it, as long as its connection lives. */
  readonly patienceMs?: number;
  /** Told of every answer, and of those that did not come. */
  readonly onAnswer?: (told: Told) => void;
}

/** One client's requests, on its own kept connections: what real clients have. */
export class Requests {
  private readonly connections: readonly Connections[];
  private node: number;

  /** @param node the one it turns to first */
  constructor(
    private readonly service: Service,
    private readonly credential: string,
    node = 0,
  ) {
    this.connections = service.nodes.map((target) => new Connections(target));
    this.node = node % service.nodes.length;
  }

  /** The node it turns to now. */
  get at(): number {
    return this.node;
  }

  /** Turns to this node from now on. */
  turnTo(node: number): void {
    this.node = node % this.connections.length;
  }

  /** @returns null when the connection broke: nobody knows what became of the request */
  async send(method: 'GET' | 'POST', path: string, body?: object, key?: string) {
    const { node } = this;
    const once = key === undefined ? '' : `Idempotency-Key: ${key}\r\n`;
    const headers = this.credential === '' ? once : `Authorization: ${this.credential}\r\n${once}`;
    const json = body === undefined ? undefined : JSON.stringify(body);
    const connections = this.connections[node] as Connections;
    const sentMs = Date.now();
    const answer = await this.inTime(connections.request(method, path, headers, json));
    const { status = null, retryAfterS = 0 } = answer ?? {};
    const answeredMs = Date.now();
    this.service.onAnswer?.({ node, method, path, status, retryAfterS, sentMs, answeredMs });
    if (status === null || status === 503) this.turnTo(node + 1);
    return answer;
  }

  /**
   * Sends a request again and again until the service says something definite about it.
   * @param onTry told of every status, null for a broken connection
   */
  async insist(
    method: 'GET' | 'POST',
    path: string,
    { body, key, pauseMs, onTry }: Insistence,
  ): Promise<HttpAnswer> {
    for (;;) {
      const answer = await this.send(method, path, body, key);
      onTry?.(answer?.status ?? null);
      if (answer && answer.status !== 503) return answer;
      await Bun.sleep(pauseMs());
    }
  }

  private async inTime(request: Promise<HttpAnswer>): Promise<HttpAnswer | null> {
    const answer = request.catch((): null => null);
    const { patienceMs } = this.service;
    if (patienceMs === undefined) return answer;
    let timer: Timer | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, patienceMs, null);
    });
    return Promise.race([answer, late]).finally(() => clearTimeout(timer));
  }
}

export interface Insistence {
  readonly body?: object;
  readonly key?: string;
  /** How long to wait before the next try. */
  readonly pauseMs: () => number;
  readonly onTry?: (status: number | null) => void;
}

/** The JSON of an answer that must have this status. */
export function jsonOf<T>(answer: HttpAnswer, status: number): T {
  const text = Buffer.from(answer.body).toString();
  if (answer.status !== status)
    throw new Error(`expected ${status}, got ${answer.status}: ${text}`);
  return JSON.parse(text);
}
