import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { intervalAt, intervalStartMs } from '../../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../../protocol/limits.ts';
import type { Store } from '../../../server/app/procedures.ts';
import { createService, type Service } from '../../../server/app/service.ts';
import { newServiceToken } from '../../../server/auth/accounts/service-tokens.ts';
import { listen } from '../../../server/gateway/listen.ts';
import type { Listener } from '../../../server/http/address.ts';
import { createClock, type ServiceClock } from '../../../server/platform/clock.ts';
import { type Config, createConfig } from '../../../server/platform/config.ts';
import type { MediaConfig } from '../../../server/platform/media-settings.ts';
import type { RealtimeBackend } from '../../../server/realtime/coordination/realtime-backend.ts';
import { type BackendsKind, DEFAULT_BACKENDS, openBackends } from './backends.ts';

/** A clock that only the test moves. */
export interface ManualClock extends ServiceClock {
  set(unixMs: number): void;
}

export function manualClock(startMs: number): ManualClock {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    offsetMs: () => 0,
    set: (unixMs) => {
      nowMs = unixMs;
    },
  };
}

export interface Account {
  readonly uuid: string;
  readonly token: string;
}

/** A viewer with a token, and its requests. */
export interface TestViewer {
  readonly token: string;
  readonly streamId: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** A complete service in this process, with its own port and directory. */
export interface Harness extends AsyncDisposable {
  readonly url: string;
  readonly clock: ServiceClock;
  readonly store: Store;
  readonly service: Service;
  readonly directory: string;
  readonly account: Account;
  /** The interval of the service clock. */
  interval(): number;
  /** Advances a manual clock by whole intervals, and seals each one when it ends. */
  advance(intervals: number): Promise<void>;
  /** Advances a manual clock without sealing. */
  pass(ms: number): void;
  createAccount(email?: string): Promise<Account>;
  /** Calls the studio API, by default with the token of the account. */
  studio(method: string, path: string, body?: unknown, init?: StudioInit): Promise<Response>;
  /** Creates a stream of the account. @returns its id */
  createStream(fields?: Record<string, unknown>): Promise<string>;
  viewer(streamId: string, identifier?: string): Promise<TestViewer>;
  /** Publishes a quiz. @returns fields of its `quiz` event */
  publishQuiz(streamId: string, quiz?: Record<string, unknown>): Promise<PublishedQuiz>;
  /** Reads the events of an interval as a viewer. */
  events(viewer: TestViewer, interval: number): Promise<{ type: string; data: unknown }[]>;
  close(): Promise<void>;
}

export interface StudioInit {
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

export interface PublishedQuiz {
  readonly id: string;
  readonly closeInterval: number;
  readonly created: number;
}

export interface HarnessOptions {
  /** `manual` (default): only the test moves it; `real`: the system clock, with automatic sealing. */
  readonly clock?: 'manual' | 'real' | ServiceClock;
  readonly config?: Partial<Config>;
  /** Media settings; by default without ports, and with segments in the directory of the service. */
  readonly media?: Partial<MediaConfig>;
  /** By default `embedded`, or the value of FOURBEAT_TEST_BACKENDS. */
  readonly backends?: BackendsKind;
  /** Use and keep this directory; by default a temporary one, which is removed. */
  readonly directory?: string;
  /** Wraps the store of the service, to make calls fail. */
  readonly store?: (store: Store) => Store;
  readonly realtime?: (realtime: RealtimeBackend) => RealtimeBackend;
}

/** Start of an interval whose count is published three intervals later. */
export const START_MS = intervalStartMs(7_000_000_000);

export const QUIZ = {
  question: 'Which planet is the largest?',
  choices: ['Mars', 'Jupiter', 'Venus'],
  answer: 'Jupiter',
  duration: 2_000,
};

/** How long `close` waits for pending responses and skipped intervals. */
const CLOSE_TIMEOUT_MS = 500;

// Sources connect by WebSocket, on the HTTP port.
const NO_PORTS = { rtmpPort: null, srtPort: null };

/** Starts a complete service for a test; `close` it in `afterAll` or `finally`. */
export async function startService(options: HarnessOptions = {}): Promise<Harness> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
  const kind = options.backends ?? DEFAULT_BACKENDS;
  const backends = await openBackends(kind, directory);
  const realStore = backends.database.store;
  const store = options.store?.(realStore) ?? realStore;
  const wrapRealtime = options.realtime ?? ((realtime: RealtimeBackend) => realtime);
  const watermark = await store.readWatermark({});
  const clock = selectClock(options.clock ?? 'manual', watermark);
  const listener: Listener = { server: null };
  const defaults = { directory: join(directory, 'media'), ...NO_PORTS };
  const media = { ...createConfig().media, ...defaults, ...options.media };
  const config = createConfig({
    port: 0,
    data: directory,
    host: '127.0.0.1',
    media,
    ...options.config,
  });
  const service = await createService(
    {
      config,
      store,
      clock,
      logger: pino({ level: 'silent' }),
      createRealtime: async (realtimeOptions) => {
        const parts = await backends.createRealtime(realtimeOptions);
        return { ...parts, realtime: wrapRealtime(parts.realtime) };
      },
      watermark,
      listener,
      random: Math.random,
    },
    () => {},
  );
  const server = listen({
    host: '127.0.0.1',
    port: 0,
    routes: service.routes,
    fetch: service.fetch,
    sockets: service.sockets,
    backend: service.gatewayBackend,
    corsOrigin: config.corsOrigin,
    edgeCache: config.edgeCache,
    log: service.stats.requests,
    listener,
  });
  if (options.clock === 'real') await service.start();
  // A node publishes nothing before its first report.
  if (kind === 'shared') await service.seal();
  const url = `http://127.0.0.1:${server.port}`;

  const createAccount = async (email = `${randomUUID()}@example.org`): Promise<Account> => {
    const nowMs = clock.nowMs();
    const user = { uuid: randomUUID(), email, name: 'A producer', created: nowMs };
    const { secret, stored } = newServiceToken(randomUUID(), 'test', randomBytes);
    await store.createAccount({ user, token: stored, nowMs });
    return { uuid: user.uuid, token: secret };
  };
  const account = await createAccount();

  const setClock = (unixMs: number) => {
    if (!('set' in clock)) throw new Error('only a manual clock can be moved');
    (clock as ManualClock).set(unixMs);
  };

  const harness: Harness = {
    url,
    clock,
    store,
    service,
    directory,
    account,
    interval: () => intervalAt(clock.nowMs()),
    async advance(intervals) {
      for (let step = 0; step < intervals; step++) {
        setClock(intervalStartMs(intervalAt(clock.nowMs()) + 1));
        await service.seal();
      }
    },
    pass: (ms) => setClock(clock.nowMs() + ms),
    createAccount,
    studio: (method, path, body, init = {}) =>
      fetch(`${url}/studio/v1${path}`, {
        method,
        headers: {
          Authorization: `Token ${init.token ?? account.token}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...init.headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async createStream(fields = {}) {
      const response = await harness.studio('POST', '/streams', {
        // The source of a test starts its show.
        ...{ title: 'A show', autoStart: true },
        ...fields,
      });
      return (await expectJson<{ id: string }>(response, 201)).id;
    },
    viewer: (streamId, identifier) =>
      newViewer(url, streamId, identifier, config.tokenAuth === 'producer' ? account.token : null),
    async publishQuiz(streamId, quiz = {}) {
      const draft = await harness.studio('POST', `/streams/${streamId}/quizzes`, {
        ...QUIZ,
        ...quiz,
      });
      const { id } = await expectJson<{ id: string }>(draft, 201);
      return expectJson(await harness.studio('POST', `/quizzes/${id}/publish`), 200);
    },
    async events(viewer, interval) {
      const response = await viewer.get(
        `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`,
      );
      return (await expectJson<{ events: { type: string; data: unknown }[] }>(response, 200))
        .events;
    },
    async close() {
      const drained = service.drain();
      // Long polls end when the clock reaches their interval. If the test has set the clock past it, they
      // never end.
      const hasLongPolls = service.stats.feed().longPolls > 0 && 'set' in clock;
      if (hasLongPolls) await harness.advance(AHEAD_INTERVALS + 1);
      await (hasLongPolls ? Promise.race([drained, Bun.sleep(CLOSE_TIMEOUT_MS)]) : drained);
      await Promise.race([server.drain(), Bun.sleep(CLOSE_TIMEOUT_MS)]);
      await server.stop();
      await service.stop();
      await backends.close();
      if (!options.directory) rmSync(directory, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]: () => harness.close(),
  };
  return harness;
}

function selectClock(choice: 'manual' | 'real' | ServiceClock, watermark: number): ServiceClock {
  if (typeof choice === 'object') return choice;
  const notBeforeMs = intervalStartMs(watermark + 1);
  if (choice === 'manual') return manualClock(Math.max(START_MS, notBeforeMs));
  return createClock({
    systemMs: Date.now,
    monotonicMs: () => performance.now(),
    notBeforeMs,
  });
}

/** The contents of the files in the directory of an embedded service, such as its database. */
export function databaseFiles({ directory }: Harness): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(directory, name), 'latin1'));
}

/** Gets a viewer token from the service at `url`, with the service token of the stream's owner if given. */
export async function newViewer(
  url: string,
  streamId: string,
  identifier: string = randomUUID(),
  ownerToken: string | null = null,
): Promise<TestViewer> {
  const response = await fetch(`${url}/api/v1/token`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(ownerToken !== null && { Authorization: `Token ${ownerToken}` }),
    },
    body: JSON.stringify({ stream_id: streamId, unique_user_identifier: identifier }),
  });
  const { token } = await expectJson<{ token: string }>(response, 200);
  return viewerWith(url, streamId, token);
}

export function viewerWith(
  url: string,
  streamId: string,
  token: string,
  scheme = 'Bearer',
): TestViewer {
  const authorization = { Authorization: `${scheme} ${token}` };
  return {
    token,
    streamId,
    get: (path, headers = {}) => fetch(url + path, { headers: { ...authorization, ...headers } }),
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: {
          ...authorization,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

/** The JSON of a response. @throws Error with the body when the status is not this one */
export async function expectJson<T>(response: Response, status: number): Promise<T> {
  const text = await response.text();
  if (response.status !== status) {
    throw new Error(`expected ${status}, got ${response.status}: ${text}`);
  }
  return JSON.parse(text);
}
