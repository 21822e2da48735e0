import type { NewQuiz, StudioQuiz, StudioStream, WinnersRound } from '../../protocol/studio.ts';

/** The service rejected a request of the producer. */
export class StudioError extends Error {
  override readonly name = 'StudioError';
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
  }
}

export interface StudioClientOptions {
  /** `http://localhost:4250`, without a path. */
  readonly origin: string;
  readonly token: string;
  readonly sleep: (ms: number) => Promise<void>;
}

const TRIES_MAX = 20;
const PAUSE_MS = 500;
const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * A client of the studio API. Each write has an `Idempotency-Key` and is repeated until there is a
 * response, so that it takes effect once whatever is lost.
 */
export class StudioClient {
  constructor(private readonly options: StudioClientOptions) {}

  createStream(title: string): Promise<StudioStream> {
    return this.write('/streams', { title });
  }

  startStream(id: string): Promise<StudioStream> {
    return this.write(`/streams/${id}/start`);
  }

  endStream(id: string): Promise<StudioStream> {
    return this.write(`/streams/${id}/end`);
  }

  createQuiz(streamId: string, draft: NewQuiz): Promise<StudioQuiz> {
    return this.write(`/streams/${streamId}/quizzes`, draft);
  }

  publishQuiz(id: string): Promise<StudioQuiz> {
    return this.write(`/quizzes/${id}/publish`);
  }

  revealQuiz(id: string): Promise<StudioQuiz> {
    return this.write(`/quizzes/${id}/reveal`);
  }

  requestWinners(streamId: string): Promise<WinnersRound> {
    return this.write(`/streams/${streamId}/request-winners`);
  }

  sendEvent(streamId: string, type: string, data: object): Promise<{ id: string }> {
    return this.write(`/streams/${streamId}/events`, { type, data });
  }

  /** @throws StudioError for a 4xx, or when the service stays unavailable */
  private async write<T>(path: string, body?: object): Promise<T> {
    const { origin, token, sleep } = this.options;
    const headers: Record<string, string> = {
      Authorization: `Token ${token}`,
      'Idempotency-Key': crypto.randomUUID(),
    };
    if (body) headers['Content-Type'] = 'application/json';
    const request = { method: 'POST', headers, ...(body ? { body: JSON.stringify(body) } : {}) };
    let lastError = 'The service did not respond.';
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
      const response = await fetch(`${origin}/studio/v1${path}`, { ...request, signal }).catch(
        () => null,
      );
      if (response?.ok) return (await response.json()) as T;
      if (response) {
        const problem = (await response.json()) as { detail: string };
        const isTransient = response.status === 503 || response.status === 429;
        if (!isTransient) throw new StudioError(response.status, problem.detail);
        lastError = problem.detail;
      }
      await sleep(Number(response?.headers.get('retry-after') ?? 0) * 1_000 || PAUSE_MS);
    }
    throw new StudioError(503, lastError);
  }
}
