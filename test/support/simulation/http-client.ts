import type { Scheduler } from '../scheduler.ts';
import { ClientNetwork, type ClientNetworkOptions, ORIGIN } from './client-network.ts';

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
}

export interface RequestOptions {
  readonly body?: object;
  readonly idempotencyKey?: string;
}

/** Above every limit of the service: 2 s for a long poll, 1 s for other requests. */
const TIMEOUT_MS = 3_000;
export const RETRY_PAUSE_MS = 120;

/** Whether the response says to repeat the request. */
export const isTemporary = ({ status }: HttpResponse) => status === 503 || status === 429;

/** A client with one credential, over a simulated network. */
export class HttpClient {
  readonly network: ClientNetwork;

  constructor(
    private readonly scheduler: Scheduler,
    networkOptions: Omit<ClientNetworkOptions, 'receive'>,
    private readonly credential: string | null,
  ) {
    this.network = new ClientNetwork({ ...networkOptions, receive: (run) => run() });
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.scheduler.after(ms, resolve);
    });
  }

  /** @returns null when the outcome is unknown */
  async send(
    method: 'GET' | 'POST',
    path: string,
    { body, idempotencyKey }: RequestOptions = {},
  ): Promise<HttpResponse | null> {
    const headers: Record<string, string> = {};
    if (this.credential !== null) headers.Authorization = this.credential;
    if (idempotencyKey !== undefined) headers['Idempotency-Key'] = idempotencyKey;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    const abort = new AbortController();
    const stopTimer = this.scheduler.after(TIMEOUT_MS, () => abort.abort());
    try {
      const response = await this.network.fetch(ORIGIN + path, {
        ...{ method, headers, signal: abort.signal },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, text: await response.text() };
    } catch {
      return null;
    } finally {
      stopTimer();
    }
  }

  /** Repeats a request until its response is neither missing nor 503 or 429. */
  async sendUntilDefinite(
    method: 'GET' | 'POST',
    path: string,
    options: RequestOptions = {},
  ): Promise<HttpResponse> {
    for (;;) {
      const response = await this.send(method, path, options);
      if (response && !isTemporary(response)) return response;
      await this.sleep(RETRY_PAUSE_MS);
    }
  }
}
