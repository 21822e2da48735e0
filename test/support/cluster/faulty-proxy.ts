import type { Target } from '../kill/retrying-client.ts';

/** A way in which a service breaks one of its guarantees. */
export interface ProxyFault {
  /** The invariant and how it is broken; test titles continue "the checks find" with it. */
  readonly name: string;
  /** The violation that the checks must report. */
  readonly violation: RegExp;
  /** Responds instead of the service. @returns null to forward the request */
  readonly respond?: (request: ProxiedRequest) => Response | null;
  /** Whether the request is forwarded a second time. */
  readonly sendsTwice?: (request: ProxiedRequest) => boolean;
  readonly replaceStatus?: (request: ProxiedRequest, status: number) => number;
  readonly replaceBody?: (body: string) => string;
  readonly delayMs?: (request: ProxiedRequest) => number;
}

export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  /** Number of the request among those of its method and route, from 1. */
  readonly number: number;
}

const isAnswer = ({ path }: ProxiedRequest) => path.endsWith('/answer');
const isEvent = ({ path }: ProxiedRequest) => /^\/studio\/.*\/events$/.test(path);
const RESULTS = /\{"type":"quiz-results","data":\{.*?"answer":"[^"]*"\}\}/;

export const PROXY_FAULTS: readonly ProxyFault[] = [
  {
    name: '[I-1] an interval whose bytes change between reads',
    violation: /interval \d+: first .*, then /,
    replaceBody: (body) =>
      Math.random() < 0.02 ? body.replace('"events":[', '"events":[ ') : body,
  },
  {
    name: '[I-2] an event that is acknowledged and lost',
    violation: /producer event \d+: acknowledged, but found 0 times/,
    respond: (sent) => {
      return isEvent(sent) && sent.number % 10 === 5 ? Response.json({}, { status: 201 }) : null;
    },
  },
  {
    name: '[I-2] an event that is published twice',
    violation: /producer event \d+: acknowledged, but found 2 times/,
    sendsTwice: (sent) => isEvent(sent) && sent.number % 10 === 5,
  },
  {
    name: '[I-3] an answer that is acknowledged and not counted',
    violation: /results of .*: \d+ for ".*", \d+ were acknowledged/,
    respond: (sent) => {
      return isAnswer(sent) && sent.number % 4 === 3 ? new Response(null, { status: 204 }) : null;
    },
  },
  {
    name: '[I-3] an answer that is refused and counted',
    violation: /answer .*: found, but never acknowledged/,
    replaceStatus: (sent, status) => (isAnswer(sent) && sent.number % 4 === 3 ? 409 : status),
  },
  {
    name: '[I-4] results that are published twice',
    violation: /quiz-results event .*: acknowledged, but found 2 times/,
    replaceBody: (body) => body.replace(RESULTS, (event) => `${event},${event}`),
  },
  {
    name: '[I-4] [W-5] a winner count that is published twice and wrong',
    violation: /\d+ counts for \d+ rounds|\d+ winners, \d+ were acknowledged/,
    replaceBody: (body) => {
      return body.replace(/\{"type":"quiz-winners".*?\}\}/, () => {
        const wrong = '{"type":"quiz-winners","data":{"count":99}}';
        return `${wrong},${wrong}`;
      });
    },
  },
  {
    name: '[I-5] a count that is higher than the heartbeats allow',
    violation: /the count published in .* is \d+, the heartbeats allow/,
    replaceBody: (body) =>
      body.replace(/"value":(\d+)/, (_, value) => `"value":${Number(value) + 3}`),
  },
  {
    name: '[I-5] heartbeats that are acknowledged and not counted',
    violation: /the count published in .* is \d+, the heartbeats allow/,
    respond: ({ method, path, number }) => {
      const isLost = method === 'POST' && path.includes('/view-counts/') && number % 2 === 0;
      return isLost ? new Response(null, { status: 204 }) : null;
    },
  },
  {
    name: '[I-6] a token that opens another stream',
    violation: /a token of another stream got 204/,
    replaceStatus: (sent, status) =>
      sent.path.includes('/view-counts/') && status === 401 ? 204 : status,
  },
  {
    name: '[I-6] a question that contains its correct answer',
    violation: /contains an answer before its results/,
    replaceBody: (body) =>
      body.replace('"type":"quiz","data":{', '"type":"quiz","data":{"answer":"Mars",'),
  },
  {
    name: '[I-7] a 503 without Retry-After and without an outage',
    violation: /503 without Retry-After|503 without an outage/,
    replaceStatus: (sent, status) => (isAnswer(sent) && sent.number % 8 === 5 ? 503 : status),
  },
  {
    name: '[I-7] a 500',
    violation: /500 to POST/,
    replaceStatus: (sent, status) => (isEvent(sent) && sent.number === 5 ? 500 : status),
  },
  {
    name: '[I-7] a response that takes too long',
    violation: /204 \d+ ms late|no answer to POST .*\/answer/,
    delayMs: (sent) => (isAnswer(sent) && sent.number % 4 === 3 ? 2_500 : 0),
  },
];

/** Starts a proxy that breaks one guarantee of the correct service behind it; `stop` it. */
export function startFaultyProxy(service: Target, fault: Partial<ProxyFault>) {
  const { respond, sendsTwice, replaceStatus, replaceBody, delayMs } = fault;
  const origin = `http://${service.hostname}:${service.port}`;
  const requestCounts = new Map<string, number>();

  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const route = `${method} ${pathname.replaceAll(/[0-9a-f-]{36}/g, '')}`;
      const number = (requestCounts.get(route) ?? 0) + 1;
      requestCounts.set(route, number);
      const sent = { method, path: pathname, number };
      const ownResponse = respond?.(sent);
      if (ownResponse) return ownResponse;
      const forward = async (idempotencyKey: string | null) => {
        const copied = new Headers(headers);
        if (idempotencyKey !== null) copied.set('Idempotency-Key', idempotencyKey);
        const init = { method, headers: copied, body: method === 'POST' ? bytes : null };
        return fetch(origin + pathname + search, init);
      };
      const bytes = await request.bytes();
      if (sendsTwice?.(sent)) await forward(crypto.randomUUID());
      const response = await forward(null);
      await Bun.sleep(delayMs?.(sent) ?? 0);
      const isFeed = method === 'GET' && pathname.includes('/events-streams/');
      const change = isFeed && replaceBody ? replaceBody : (text: string) => text;
      if (response.headers.get('content-type') === 'text/event-stream') {
        return new Response(response.body?.pipeThrough(mapMessages(change)) ?? null, response);
      }
      const status = replaceStatus?.(sent, response.status) ?? response.status;
      const text = status === 204 ? null : change(await response.text());
      return new Response(text, { status, headers: forwardedHeaders(response) });
    },
  });
  return {
    target: { hostname: '127.0.0.1', port: proxy.port ?? 0 },
    stop: () => proxy.stop(true),
  };
}

function forwardedHeaders({ headers }: Response): Record<string, string> {
  const pairs = ['content-type', 'retry-after'].map((name) => [name, headers.get(name)] as const);
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair[1] !== null));
}

/** Applies a function to each message of an event stream. */
function mapMessages(change: (body: string) => string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let incomplete = '';
  return new TransformStream({
    transform(chunk, controller) {
      const parts = (incomplete + decoder.decode(chunk, { stream: true })).split('\n\n');
      incomplete = parts.pop() ?? '';
      for (const part of parts) controller.enqueue(encoder.encode(`${change(part)}\n\n`));
    },
  });
}
