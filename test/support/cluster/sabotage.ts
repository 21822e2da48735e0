import type { Target } from '../kill/retrying-client.ts';

/** One way in which a service breaks a promise. */
export interface Sabotage {
  /** The invariant, and how it is broken. */
  readonly name: string;
  /** What the oracle must say. */
  readonly found: RegExp;
  /** Answers in place of the service. @returns null to ask the service */
  readonly instead?: (request: Sent) => Response | null;
  /** Sends this to the service a second time. */
  readonly twice?: (request: Sent) => boolean;
  /** What the client gets in place of the service's answer. */
  readonly status?: (request: Sent, status: number) => number;
  /** What the client gets in place of this interval: the same at each reading, or not. */
  readonly body?: (body: string) => string;
  /** The answer comes so much later. */
  readonly lateMs?: (request: Sent) => number;
}

/** A request as the sabotage sees it. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  /** The how many-th request of this method to this kind of path it is. */
  readonly number: number;
}

const isAnswer = ({ path }: Sent) => path.endsWith('/answer');
const isEvent = ({ path }: Sent) => /^\/studio\/.*\/events$/.test(path);
const RESULTS = /\{"type":"quiz-results","data":\{.*?"answer":"[^"]*"\}\}/;

export const SABOTAGES: readonly Sabotage[] = [
  {
    name: '[I-1] an interval that is not the same at each reading',
    found: /interval \d+: first .*, then /,
    body: (body) => (Math.random() < 0.02 ? body.replace('"events":[', '"events":[ ') : body),
  },
  {
    name: '[I-2] an event that is acknowledged and lost',
    found: /producer event \d+: acknowledged, and there 0 times/,
    instead: (sent) => {
      return isEvent(sent) && sent.number % 10 === 5 ? Response.json({}, { status: 201 }) : null;
    },
  },
  {
    name: '[I-2] an event that comes twice',
    found: /producer event \d+: acknowledged, and there 2 times/,
    twice: (sent) => isEvent(sent) && sent.number % 10 === 5,
  },
  {
    name: '[I-3] an answer that is acknowledged and not counted',
    found: /results of .*: \d+ for ".*", \d+ were acknowledged/,
    instead: (sent) => {
      return isAnswer(sent) && sent.number % 4 === 3 ? new Response(null, { status: 204 }) : null;
    },
  },
  {
    name: '[I-3] an answer that is refused and counted',
    found: /answer .*: there, and never acknowledged/,
    status: (sent, status) => (isAnswer(sent) && sent.number % 4 === 3 ? 409 : status),
  },
  {
    name: '[I-4] results that come twice',
    found: /quiz-results event .*: acknowledged, and there 2 times/,
    body: (body) => body.replace(RESULTS, (event) => `${event},${event}`),
  },
  {
    name: '[I-4] [W-5] a count of winners that comes twice, and is wrong',
    found: /\d+ counts for \d+ rounds|\d+ winners, \d+ were acknowledged/,
    body: (body) => {
      return body.replace(/\{"type":"quiz-winners".*?\}\}/, () => {
        const wrong = '{"type":"quiz-winners","data":{"count":99}}';
        return `${wrong},${wrong}`;
      });
    },
  },
  {
    name: '[I-5] a count that nobody can have caused',
    found: /the count published in .* is \d+, the heartbeats allow/,
    body: (body) => body.replace(/"value":(\d+)/, (_, value) => `"value":${Number(value) + 3}`),
  },
  {
    name: '[I-5] heartbeats that are acknowledged and not counted',
    found: /the count published in .* is \d+, the heartbeats allow/,
    instead: ({ method, path, number }) => {
      const isLost = method === 'POST' && path.includes('/view-counts/') && number % 2 === 0;
      return isLost ? new Response(null, { status: 204 }) : null;
    },
  },
  {
    name: '[I-6] a token that opens another stream',
    found: /a token of another stream got 204/,
    status: (sent, status) =>
      sent.path.includes('/view-counts/') && status === 401 ? 204 : status,
  },
  {
    name: '[I-6] a question that tells its answer',
    found: /tells an answer before its results/,
    body: (body) =>
      body.replace('"type":"quiz","data":{', '"type":"quiz","data":{"answer":"Mars",'),
  },
  {
    name: '[I-7] a 503 without Retry-After, while nothing is broken',
    found: /503 without Retry-After|503 while nothing is broken/,
    status: (sent, status) => (isAnswer(sent) && sent.number % 8 === 5 ? 503 : status),
  },
  {
    name: '[I-7] a 500',
    found: /500 to POST/,
    status: (sent, status) => (isEvent(sent) && sent.number === 5 ? 500 : status),
  },
  {
    name: '[I-7] an answer that takes too long',
    found: /204 \d+ ms late|no answer to POST .*\/answer/,
    lateMs: (sent) => (isAnswer(sent) && sent.number % 4 === 3 ? 2_500 : 0),
  },
];

/** The service behind a proxy that breaks one promise. `stop` it in the end. */
export function sabotaged(service: Target, sabotage: Partial<Sabotage>) {
  const { instead, twice, status, body, lateMs } = sabotage;
  const origin = `http://${service.hostname}:${service.port}`;
  const seen = new Map<string, number>();

  const proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const kind = `${method} ${pathname.replaceAll(/[0-9a-f-]{36}/g, '')}`;
      const number = (seen.get(kind) ?? 0) + 1;
      seen.set(kind, number);
      const sent = { method, path: pathname, number };
      const own = instead?.(sent);
      if (own) return own;
      const forward = async (key: string | null) => {
        const copied = new Headers(headers);
        if (key !== null) copied.set('Idempotency-Key', key);
        const init = { method, headers: copied, body: method === 'POST' ? bytes : null };
        return fetch(origin + pathname + search, init);
      };
      const bytes = await request.bytes();
      if (twice?.(sent)) await forward(crypto.randomUUID());
      const answer = await forward(null);
      await Bun.sleep(lateMs?.(sent) ?? 0);
      const isFeed = method === 'GET' && pathname.includes('/events-streams/');
      const change = isFeed && body ? body : (text: string) => text;
      if (answer.headers.get('content-type') === 'text/event-stream') {
        return new Response(answer.body?.pipeThrough(messages(change)) ?? null, answer);
      }
      const told = status?.(sent, answer.status) ?? answer.status;
      const text = told === 204 ? null : change(await answer.text());
      return new Response(text, { status: told, headers: keptHeaders(answer) });
    },
  });
  return {
    target: { hostname: '127.0.0.1', port: proxy.port ?? 0 },
    stop: () => proxy.stop(true),
  };
}

function keptHeaders({ headers }: Response): Record<string, string> {
  const kept = ['content-type', 'retry-after'].map((name) => [name, headers.get(name)] as const);
  return Object.fromEntries(kept.filter((pair): pair is [string, string] => pair[1] !== null));
}

/** Event streams, message by message. */
function messages(change: (body: string) => string): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) controller.enqueue(encoder.encode(`${change(part)}\n\n`));
    },
  });
}
