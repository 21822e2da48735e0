import { Connections, type HttpAnswer } from '../../server/demo/crowd/connections.ts';

export interface Target {
  readonly hostname: string;
  readonly port: number;
}

/** One client's requests, on its own kept connections: what real clients have. */
export class Requests {
  private readonly connections: Connections;

  constructor(
    target: Target,
    private readonly credential: string,
  ) {
    this.connections = new Connections(target);
  }

  /** @returns null when the connection broke: nobody knows what became of the request */
  async send(method: 'GET' | 'POST', path: string, body?: object, key?: string) {
    const once = key === undefined ? '' : `Idempotency-Key: ${key}\r\n`;
    const headers = this.credential === '' ? once : `Authorization: ${this.credential}\r\n${once}`;
    const json = body === undefined ? undefined : JSON.stringify(body);
    return this.connections.request(method, path, headers, json).catch((): null => null);
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

/** A repeatable source of numbers from 0 to below 1 (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
