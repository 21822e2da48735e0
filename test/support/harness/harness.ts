import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
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
import { type BackendsKind, openBackends, USUAL_BACKENDS } from './backends.ts';

/** A clock that stands still until a test moves it. */
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

/** A viewer with a token, and the calls it makes. */
export interface TestViewer {
  readonly token: string;
  readonly streamId: string;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** A whole service in this process, on a port of its own and a directory of its own. */
export interface Harness {
  readonly url: string;
  readonly clock: ServiceClock;
  readonly store: Store;
  readonly service: Service;
  readonly directory: string;
  readonly account: Account;
  /** The interval of the service clock. */
  interval(): number;
  /** Moves a manual clock on by whole intervals, sealing each one as it ends. */
  advance(intervals: number): Promise<void>;
  createAccount(email?: string): Promise<Account>;
  /** A call of the studio API; the account's token unless another is given. */
  studio(method: string, path: string, body?: unknown, init?: StudioInit): Promise<Response>;
  /** A new stream of the account; its id. */
  createStream(fields?: Record<string, unknown>): Promise<string>;
  viewer(streamId: string, identifier?: string): Promise<TestViewer>;
  /** Publishes a quiz and gives what its `quiz` event will carry. */
  publishQuiz(streamId: string, quiz?: Record<string, unknown>): Promise<PublishedQuiz>;
  /** The events of an interval, by a viewer. */
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
  /** `manual` (default): time stands still; `real`: the system's, sealing by itself. */
  readonly clock?: 'manual' | 'real' | ServiceClock;
  readonly config?: Partial<Config>;
  /** Of video; without it there are no ports, and segments are in the service's directory. */
  readonly media?: Partial<MediaConfig>;
  /** What it stands on; `embedded` unless the variable FOURBEAT_TEST_BACKENDS says `shared`. */
  readonly backends?: BackendsKind;
  /** Start on this directory and leave it there; else a temporary one that is removed. */
  readonly directory?: string;
  /** Stands between the service and its record, to make it fail. */
  readonly store?: (store: Store) => Store;
  /** The same for its beat. */
  readonly realtime?: (realtime: RealtimeBackend) => RealtimeBackend;
}

/** A moment at the start of an interval whose count is published three intervals later. */
export const START_MS = intervalStartMs(7_000_000_000);

export const QUIZ = {
  question: 'Which planet is the largest?',
  choices: ['Mars', 'Jupiter', 'Venus'],
  answer: 'Jupiter',
  duration: 2_000,
};

/** How long the end of a harness waits for answers, and for intervals that were left out. */
const HELD_MS = 500;

// Sources come by WebSocket, which is at the port of all the rest.
const NO_PORTS = { rtmpPort: null, srtPort: null };

/** Starts a whole service for a test; `close` it in `afterAll` or `finally`. */
export async function startService(options: HarnessOptions = {}): Promise<Harness> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
  const kind = options.backends ?? USUAL_BACKENDS;
  const backends = await openBackends(kind, directory);
  const opened = backends.database.store;
  const store = options.store?.(opened) ?? opened;
  const wrapped = options.realtime ?? ((realtime: RealtimeBackend) => realtime);
  const watermark = await store.readWatermark({});
  const clock = chosenClock(options.clock ?? 'manual', watermark);
  const listener: Listener = { server: null };
  const place = { directory: join(directory, 'media'), ...NO_PORTS };
  const media = { ...createConfig().media, ...place, ...options.media };
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
      createRealtime: async (given) => {
        const parts = await backends.createRealtime(given);
        return { ...parts, realtime: wrapped(parts.realtime) };
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
  if (options.clock === 'real') await service.begin();
  // A node hands nothing over before it has reported once.
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

  const harness: Harness = {
    url,
    clock,
    store,
    service,
    directory,
    account,
    interval: () => intervalAt(clock.nowMs()),
    async advance(intervals) {
      if (!('set' in clock)) throw new Error('only a manual clock can be moved');
      for (let step = 0; step < intervals; step++) {
        (clock as ManualClock).set(intervalStartMs(intervalAt(clock.nowMs()) + 1));
        await service.seal();
      }
    },
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
      const response = await harness.studio('POST', '/streams', { title: 'A show', ...fields });
      return (await expectJson<{ id: string }>(response, 201)).id;
    },
    async viewer(streamId, identifier = randomUUID()) {
      const response = await fetch(`${url}/api/v1/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ stream_id: streamId, unique_user_identifier: identifier }),
      });
      const { token } = await expectJson<{ token: string }>(response, 200);
      return viewerWith(url, streamId, token);
    },
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
      // What is held waits for the ends of intervals, which come when this clock is moved on; and for
      // ever, where a test has set it past them.
      const isHeld = service.stats.feed().longPolls > 0 && 'set' in clock;
      if (isHeld) await harness.advance(AHEAD_INTERVALS + 1);
      await (isHeld ? Promise.race([drained, Bun.sleep(HELD_MS)]) : drained);
      await Promise.race([server.drain(), Bun.sleep(HELD_MS)]);
      await server.stop();
      await service.end();
      await backends.close();
      if (!options.directory) rmSync(directory, { recursive: true, force: true });
    },
  };
  return harness;
}

function chosenClock(choice: 'manual' | 'real' | ServiceClock, watermark: number): ServiceClock {
  if (typeof choice === 'object') return choice;
  const notBeforeMs = intervalStartMs(watermark + 1);
  if (choice === 'manual') return manualClock(Math.max(START_MS, notBeforeMs));
  return createClock({
    systemMs: Date.now,
    monotonicMs: () => performance.now(),
    notBeforeMs,
  });
}

/** A viewer that sends this token. */
export function viewerWith(url: string, streamId: string, token: string): TestViewer {
  const authorization = { Authorization: `Bearer ${token}` };
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

/** The JSON of a response that must have this status; else an error with what it said. */
export async function expectJson<T>(response: Response, status: number): Promise<T> {
  const text = await response.text();
  if (response.status !== status) {
    throw new Error(`expected ${status}, got ${response.status}: ${text}`);
  }
  return JSON.parse(text);
}
