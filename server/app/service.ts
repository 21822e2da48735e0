import { studioApi } from '../../protocol/studio-api.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import type { AnswerDecision } from '../domains/quizzes/quiz-rules.ts';
import type { GatewayBackend } from '../gateway/gateway-backend.ts';
import { createLocalGatewayBackend } from '../gateway/local-gateway-backend.ts';
import type { WorkerServices } from '../gateway/workers/worker-pool.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { Handlers, WebSocketRoutes } from '../http/route.ts';
import { createRoutes, endpointsOf, notFoundHandler, type PathHandler } from '../http/router.ts';
import { timeHandlers } from '../http/time-routes.ts';
import type { WebSocketSource } from '../media/websocket/websocket-source.ts';
import { Unavailable } from '../platform/errors.ts';
import type { MetricDefinition } from '../platform/metrics.ts';
import { runtime } from '../platform/runtime.ts';
import { feedHandlers } from '../realtime/feed/feed-routes.ts';
import { limitPageReads } from '../realtime/feed/page-read-limit.ts';
import { viewCountHandlers } from '../realtime/presence/view-count-routes.ts';
import { countWrites } from '../storage/sql/write-count.ts';
import type { StartPageOptions } from '../web/start-page.ts';
import type { WatchPageOptions } from '../web/watch-page.ts';
import { createParts, type Parts, type ServiceOptions } from './parts.ts';
import { procedures } from './procedures.ts';

/** Counters of the service for its metrics. */
export interface ServiceStats {
  readonly requests: RequestLog;
  readonly answers: Readonly<Record<AnswerDecision, number>>;
  viewersByStream(): Iterable<readonly [string, number]>;
  feed(): { longPolls: number; eventStreams: number };
  watermark(): number;
  feedLagMs(): number;
  /** Metrics of single parts of the service. */
  readonly additional: readonly MetricDefinition[];
}

/** The whole service, ready for a listener. */
export interface Service {
  readonly routes: Record<string, PathHandler>;
  /** The services that the fast paths of the gateway use. */
  readonly gatewayBackend: GatewayBackend;
  /** The services that worker threads use. */
  readonly workerServices: WorkerServices;
  /** Routes for WebSockets; only with the role `media`. */
  readonly sockets: WebSocketRoutes<WebSocketSource> | undefined;
  readonly startPage: Pick<StartPageOptions, 'readLiveShows'>;
  readonly watchPage: Pick<WatchPageOptions, 'readShow' | 'originOf'>;
  /** Responds to requests without a route: 404. */
  readonly fetch: (request: Request) => Response;
  readonly stats: ServiceStats;
  /** Starts to seal on time, and opens the ports for video. */
  start(): Promise<void>;
  /** Seals the intervals that have ended; for the start, and for tests with a manual clock. */
  seal(): Promise<void>;
  /** Sends due webhooks; for tests with a manual clock. */
  sendWebhooks(): Promise<void>;
  /** Makes due reports; for tests with a manual clock. */
  makeReports(): Promise<void>;
  /** Refreshes what nodes read every 10 s and deletes what expired; for tests with a manual clock. */
  upkeep(): Promise<void>;
  /** A setup link for the first member, or null when there is one (SPEC U-12). */
  newSetupLink(origin: string): Promise<string | null>;
  /** Why the service should get no requests now, or null. */
  unreadyReason(): string | null;
  /** Answers long polls, ends event streams, and rejects new ones. */
  drain(): Promise<void>;
  /** Seals what was accepted and stops. Call it after `drain`, when no more requests can arrive. */
  stop(): Promise<void>;
}

/** A node whose feed lags by more is not ready (SPEC O-10). */
const LAG_MAX_MS = 2_000;
const UPKEEP_MS = 10_000;
/** Writes of viewers, which change no detail of a stream. */
const VIEWER_WRITES = new Set([
  'recordAnswers',
  'recordWinners',
  'leaseSeats',
  'takeSeats',
  'nameViewers',
  'saveOwnContact',
  'eraseOwnContact',
] as const);

/** Composes the service. @param onSealed called after each sealing with its latency */
export async function createService(
  serviceOptions: ServiceOptions,
  onSealed: (latencyMs: number) => void,
): Promise<Service> {
  const counted = countWrites(procedures, serviceOptions.store, VIEWER_WRITES);
  const { writes } = counted;
  const store = limitPageReads(counted.store);
  const options = { ...serviceOptions, store };
  const { config, clock, listener } = options;
  const parts = await createParts({ ...options, writes, onSealed });
  const { requests, realtime, quizzes, media, members } = parts;
  const { corsOrigin, trustProxy, roles } = config;
  const endpoints = [
    ...endpointsOf(viewerApi, viewerHandlers(options, parts)),
    ...endpointsOf(studioApi, studioHandlers(parts)),
  ];
  const routes = createRoutes(endpoints, {
    ...{ roles, corsOrigin, trustProxy, listener },
    log: requests,
  });
  const moderation = parts.moderation.cache;
  const viewerTokens = parts.viewerTokens.tokens;
  return {
    routes: { ...routes, ...media?.routes },
    gatewayBackend: createLocalGatewayBackend({
      ...{ clock, corsOrigin, trustProxy, requests, viewerTokens },
      bans: moderation.bans,
      presence: realtime.presence,
      log: realtime.feed,
      streams: parts.openStreams,
      answerService: quizzes.answers,
    }),
    workerServices: {
      ...{ clock, store, realtime, viewerTokens, moderation, requests },
      tokenCacheSize: config.tokenCacheSize,
      trustProxy,
    },
    sockets: media?.sockets,
    startPage: { readLiveShows: () => parts.streams.shows.live() },
    watchPage: {
      readShow: (streamId) => parts.streams.shows.read(streamId),
      originOf: parts.context.originOf,
    },
    fetch: notFoundHandler(corsOrigin, requests),
    stats: statsOf(parts),
    newSetupLink: (origin) => members.newSetupLink(origin),
    ...lifecycleOf(options, parts),
  };
}

function viewerHandlers(
  { config, clock }: ServiceOptions,
  parts: Parts,
): Handlers<typeof viewerApi> {
  const { credentials, realtime, openStreams } = parts;
  return {
    ...timeHandlers(clock),
    ...parts.accounts.handlers(credentials, parts.studio).viewer,
    ...parts.streams.viewerHandlers,
    ...parts.viewerTokens.handlers(credentials),
    ...viewCountHandlers(realtime.presence, credentials),
    ...parts.quizzes.viewerHandlers,
    ...feedHandlers({
      ...{ clock, credentials },
      log: realtime.feed,
      streams: openStreams,
      edgeCache: config.edgeCache,
    }),
    ...parts.chat.viewerHandlers,
  };
}

function studioHandlers(parts: Parts): Handlers<typeof studioApi> {
  return {
    ...parts.accounts.handlers(parts.credentials, parts.studio).studio,
    ...parts.members.handlers(parts.context),
    ...parts.presenterKeys,
    ...parts.streams.handlers,
    ...parts.quizzes.handlers,
    ...parts.rundown.handlers,
    ...parts.products.handlers,
    ...parts.moderation.handlers(parts.studio, parts.context),
    ...parts.live.handlers,
    ...parts.presenter.handlers,
    ...parts.history.handlers,
    ...parts.exports.handlers,
    ...parts.reports.handlers,
    ...parts.rehearsals.handlers,
    ...parts.webhooks.handlers,
  };
}

function statsOf({ requests, realtime, quizzes, media, ...parts }: Parts): ServiceStats {
  return {
    requests,
    answers: quizzes.answers.decisions,
    viewersByStream: () => realtime.presence.liveCounts(),
    feed: () => realtime.load(),
    watermark: () => realtime.feed.watermark(),
    feedLagMs: () => realtime.lagMs(),
    additional: [
      ...(media?.metrics ?? []),
      ...parts.viewerTokens.tokens.metrics,
      ...quizzes.numbers.metrics,
      ...parts.webhooks.sender.metrics,
      ...parts.rehearsals.runner.metrics,
    ],
  };
}

type Lifecycle = Pick<
  Service,
  'start' | 'seal' | 'sendWebhooks' | 'makeReports' | 'upkeep' | 'unreadyReason' | 'drain' | 'stop'
>;

function lifecycleOf({ store, clock, logger }: ServiceOptions, parts: Parts): Lifecycle {
  const { realtime, openStreams, live, media, webhooks, reports, moderation } = parts;
  const { accounts, members, viewerTokens, rehearsals, archived, quizzes } = parts;
  let isDraining = false;
  let upkeepTimer: Timer | null = null;
  const upkeep = async () => {
    const work = [
      archived.refresh(),
      quizzes.numbers.refresh(),
      viewerTokens.upkeep(),
      accounts.upkeep(),
      members.upkeep(),
      store.deleteExpiredIdempotencyKeys({ nowMs: clock.nowMs() }),
    ];
    await Promise.all(work).catch((error) => {
      // An unavailable backend is logged by its client, and the next upkeep tries again.
      if (!(error instanceof Unavailable)) logger.warn({ err: error }, 'upkeep failed');
    });
  };
  return {
    start: async () => {
      realtime.start();
      upkeepTimer = runtime.setInterval(() => void upkeep(), UPKEEP_MS);
      webhooks.sender.start();
      moderation.cache.start();
      if (parts.isStudio) {
        reports.maker.start();
        rehearsals.runner.start();
      }
      await media?.start();
    },
    seal: () => realtime.seal(),
    sendWebhooks: () => webhooks.sender.sendAll(),
    makeReports: () => reports.maker.makeAll(),
    upkeep,
    unreadyReason: () => {
      if (isDraining) return 'The service is stopping.';
      if (realtime.lagMs() > LAG_MAX_MS) return 'Sealing is behind.';
      return realtime.unavailableReason();
    },
    drain: async () => {
      isDraining = true;
      // First, so that simulated viewers do not reconnect.
      rehearsals.runner.stop();
      const drained = Promise.all([
        realtime.drain(),
        media?.drain(),
        webhooks.sender.stop(),
        reports.maker.stop(),
      ]);
      openStreams.endAll();
      live.showStreams.stop();
      await drained;
    },
    stop: async () => {
      if (upkeepTimer) runtime.clearTimer(upkeepTimer);
      moderation.cache.stop();
      await realtime.stop();
      await media?.close();
      webhooks.close();
      await accounts.stop().catch(() => {});
    },
  };
}
