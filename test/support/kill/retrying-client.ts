import { Connections, type HttpResponse } from '../../../crowd/connections.ts';

export interface Target {
  readonly hostname: string;
  readonly port: number;
}

export interface RequestResult {
  readonly node: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Null after a broken connection or a time-out: the outcome is unknown. */
  readonly status: number | null;
  readonly retryAfterS: number;
  /** Unix ms. */
  readonly sentMs: number;
  readonly answeredMs: number;
}

/** The service under test. */
export interface TestedService {
  /** Addresses of its nodes. After a failure a client switches to the next node. */
  readonly nodes: readonly Target[];
  /** Time limit of a request; without it, the request lasts as long as its connection. */
  readonly timeoutMs?: number;
  /** Called with the result of each request. */
  readonly onResult?: (result: RequestResult) => void;
}

/** An HTTP client with its own keep-alive connections to each node, like a real one. */
export class RetryingClient {
  private readonly connections: readonly Connections[];
  private node: number;

  /** @param node the node to use first */
  constructor(
    private readonly service: TestedService,
    private readonly credential: string,
    node = 0,
  ) {
    this.connections = service.nodes.map((target) => new Connections(target));
    this.node = node % service.nodes.length;
  }

  get currentNode(): number {
    return this.node;
  }

  selectNode(node: number): void {
    this.node = node % this.connections.length;
  }

  /** @returns null when the outcome is unknown */
  async send(method: 'GET' | 'POST', path: string, body?: object, key?: string) {
    const { node } = this;
    const keyHeader = key === undefined ? '' : `Idempotency-Key: ${key}\r\n`;
    const headers =
      this.credential === '' ? keyHeader : `Authorization: ${this.credential}\r\n${keyHeader}`;
    const json = body === undefined ? undefined : JSON.stringify(body);
    const connections = this.connections[node] as Connections;
    const sentMs = Date.now();
    const response = await this.withTimeout(connections.request(method, path, headers, json));
    const { status = null, retryAfterS = 0 } = response ?? {};
    const answeredMs = Date.now();
    this.service.onResult?.({ node, method, path, status, retryAfterS, sentMs, answeredMs });
    if (status === null || status === 503) this.selectNode(node + 1);
    return response;
  }

  /**
   * Repeats a request until its response is neither 503 nor missing.
   * @param onTry called with each status, null for a broken connection
   */
  async sendUntilDefinite(
    method: 'GET' | 'POST',
    path: string,
    { body, key, pauseMs, onTry }: RetryOptions,
  ): Promise<HttpResponse> {
    for (;;) {
      const response = await this.send(method, path, body, key);
      onTry?.(response?.status ?? null);
      if (response && response.status !== 503) return response;
      await Bun.sleep(pauseMs());
    }
  }

  private async withTimeout(request: Promise<HttpResponse>): Promise<HttpResponse | null> {
    const response = request.catch((): null => null);
    const { timeoutMs } = this.service;
    if (timeoutMs === undefined) return response;
    let timer: Timer | undefined;
    const timeout = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, null);
    });
    return Promise.race([response, timeout]).finally(() => clearTimeout(timer));
  }
}

export interface RetryOptions {
  readonly body?: object;
  readonly key?: string;
  /** Delay before the next attempt. */
  readonly pauseMs: () => number;
  readonly onTry?: (status: number | null) => void;
}

/** The JSON body of a response. @throws Error for another status */
export function jsonOf<T>(response: HttpResponse, status: number): T {
  const text = Buffer.from(response.body).toString();
  if (response.status !== status)
    throw new Error(`expected ${status}, got ${response.status}: ${text}`);
  return JSON.parse(text);
}
