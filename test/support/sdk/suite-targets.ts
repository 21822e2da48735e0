import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import type { NewQuiz } from '../../../sdk/mock/mock-quizzes.ts';
import { mockService } from '../../../sdk/mock/mock-service.ts';
import type { Product } from '../../../sdk/types.ts';
import { expectJson, type Harness } from '../harness/harness.ts';
import { FakeMachine } from './fake-environment.ts';

export interface TargetRequest {
  /** A viewer's token. */
  readonly viewer?: string;
  readonly body?: unknown;
}

export interface TargetResponse {
  readonly status: number;
  /** The JSON body, without the texts of a problem. */
  readonly body: Record<string, unknown>;
}

/** A service with one stream, real or mock, with the same requests and controls. */
export interface SuiteTarget {
  readonly streamId: string;
  interval(): number;
  advance(intervals: number): Promise<void>;
  feedPath(interval: number | string): string;
  call(method: string, path: string, request: TargetRequest): Promise<TargetResponse>;
  token(identifier: string): Promise<string>;
  /** Reads the first messages of an event stream. */
  readStream(from: number, messages: number, viewer: string): Promise<string[]>;
  openQuiz(quiz: NewQuiz): Promise<{ id: string; closeInterval: number }>;
  publish(type: string, data: Record<string, unknown>): Promise<void>;
  /** Creates a product and shows it to viewers. @returns a function that hides it */
  showProduct(product: Omit<Product, 'id'>): Promise<() => Promise<void>>;
  /** @returns whether the service accepted it */
  reveal(quizId: string): Promise<boolean>;
  requestWinners(): Promise<boolean>;
  end(): Promise<void>;
}

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

const COMMENT = /^:.*\n\n/;

/** The requests, which both targets serve by HTTP. */
function createHttpCalls(fetch: Fetch, url: string, streamId: string) {
  const call = async (method: string, path: string, { viewer, body }: TargetRequest) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(viewer === undefined ? {} : { Authorization: `Bearer ${viewer}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const { title, detail, ...rest } = text === '' ? {} : JSON.parse(text);
    return { status: response.status, body: rest };
  };
  return {
    streamId,
    call,
    feedPath: (interval: number | string) =>
      `/api/v1/events-streams/${streamId}?interval=${interval}`,
    token: async (identifier: string) => {
      const body = { stream_id: streamId, unique_user_identifier: identifier };
      return (await call('POST', '/api/v1/token', { body })).body.token as string;
    },
    readStream: async (from: number, messages: number, viewer: string) => {
      const response = await fetch(`${url}/api/v1/events-streams/${streamId}?interval=${from}`, {
        headers: { Authorization: `Bearer ${viewer}`, Accept: 'text/event-stream' },
      });
      return [
        String(response.headers.get('content-type')),
        ...(await readMessages(response, messages)),
      ];
    },
  };
}

async function readMessages(response: Response, messages: number): Promise<string[]> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const complete = text.replace(COMMENT, '').split('\n\n').slice(0, -1);
    const { value, done } = complete.length < messages ? await reader.read() : { done: true };
    if (done) {
      await reader.cancel();
      return complete.slice(0, messages);
    }
    text += decoder.decode(value, { stream: true });
  }
}

export async function createServiceTarget(harness: Harness): Promise<SuiteTarget> {
  const streamId = await harness.createStream();
  await harness.studio('POST', `/streams/${streamId}/start`);
  const studio = (path: string, body?: unknown) => harness.studio('POST', path, body);
  return {
    ...createHttpCalls(fetch, harness.url, streamId),
    interval: harness.interval,
    advance: harness.advance,
    openQuiz: ({ durationMs: duration = 10_000, question = 'A question?', ...quiz }) =>
      harness.publishQuiz(streamId, { ...quiz, question, duration }),
    publish: async (type, data) => {
      await studio(`/streams/${streamId}/events`, { type, data });
    },
    showProduct: async (product) => {
      const products = `/streams/${streamId}/products`;
      const { id } = await expectJson<Product>(await studio(products, product), 201);
      await studio(`${products}/${id}/show`);
      return async () => {
        await studio(`${products}/${id}/hide`);
      };
    },
    reveal: async (quizId) => (await studio(`/quizzes/${quizId}/reveal`)).ok,
    requestWinners: async () => (await studio(`/streams/${streamId}/request-winners`)).ok,
    end: async () => {
      await studio(`/streams/${streamId}/end`);
    },
  };
}

export function createMockTarget(startMs: number): SuiteTarget {
  const machine = new FakeMachine({ startMs });
  const { after } = machine.environment;
  const mock = mockService({ now: () => machine.nowMs, after });
  const accepts = async (run: () => void) => {
    try {
      run();
      return true;
    } catch {
      return false;
    }
  };
  return {
    ...createHttpCalls(mock.fetch, 'https://mock.example', mock.streamId),
    interval: () => intervalAt(machine.nowMs),
    advance: async (intervals) => {
      const endMs = intervalStartMs(intervalAt(machine.nowMs) + intervals);
      await machine.advance(endMs - machine.nowMs);
    },
    openQuiz: async (quiz) => mock.openQuiz(quiz),
    publish: async (type, data) => {
      if (type === 'purchase') mock.sendMessage('purchase', String(data.text), String(data.name));
      else if (type === 'discount') mock.sendDiscounts(Number(data.count));
      else mock.publish(type, data);
    },
    showProduct: async (product) => {
      mock.showProduct({ id: crypto.randomUUID(), ...product });
      return async () => mock.showProduct(null);
    },
    reveal: (quizId) => accepts(() => mock.reveal(quizId)),
    requestWinners: () => accepts(() => mock.requestWinners()),
    end: async () => mock.setStatus('ENDED'),
  };
}
