import { randomBytes as systemRandomBytes } from 'node:crypto';
import { studioApi } from '../../protocol/studio-api.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { accountHandlers } from '../auth/accounts/account-routes.ts';
import { Passwords } from '../auth/members/passwords.ts';
import { tokenHandlers } from '../auth/viewer-tokens/token-routes.ts';
import { createChat } from '../domains/chat/chat-routes.ts';
import { answerHandlers } from '../domains/quizzes/answer-routes.ts';
import type { AnswerDecision } from '../domains/quizzes/quiz-rules.ts';
import { streamHandlers } from '../domains/streams/stream-routes.ts';
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
import { viewCountHandlers } from '../realtime/presence/view-count-routes.ts';
import { countWrites } from '../storage/sql/write-count.ts';
import { procedures } from './procedures.ts';
import { type Parts, partsOf, type ServiceOptions } from './service-parts.ts';
import { studioHandlers } from './studio-handlers.ts';

/** Counters of the service for its metrics. */
export interface ServiceStats {
  readonly requests: RequestLog;
  readonly answers: Readonly<Record<AnswerDecision, number>>;
  viewersByStream(): Iterable<readonly [string, number]>;
  feed(): { longPolls: number; eventStreams: number };
  watermark(): number;
  feedLagMs(): number;
  /** Metrics of optional parts of the service. */
  readonly additional: readonly MetricDefinition[];
}

/** The whole service, ready to be put behind a listener. */
export interface Service {
  readonly routes: Record<string, PathHandler>;
  /** The services that the gateway's fast paths use. */
  readonly gatewayBackend: GatewayBackend;
  /** The services that worker threads use. */
  readonly workerServices: WorkerServices;
  /** Where requests become sockets; none without the role `media`. */
  readonly sockets: WebSocketRoutes<WebSocketSource> | undefined;
  /** Answers what no route does: 404. */
  readonly fetch: (request: Request) => Response;
  readonly stats: ServiceStats;
  /** Seals on time from here on, and opens the ports for video. */
  begin(): Promise<void>;
  /** Seals what has ended; for tests with a clock of their own. */
  seal(): Promise<void>;
  /** Tells webhooks what is due; for tests with a clock of their own. */
  deliver(): Promise<void>;
  /** Makes the reports that are due; for tests with a clock of their own. */
  report(): Promise<void>;
  /** Why the service should get no requests now, or null. */
  unready(): string | null;
  /** Answers what is held, ends event streams, and takes no more of either. */
  drain(): Promise<void>;
  /** Seals what was accepted and stops. After the drain, when no more requests can come. */
  end(): Promise<void>;
}

// O-10: further behind than this, readers are better served elsewhere.
const BEHIND_MAX_MS = 2_000;
const UPKEEP_MS = 10_000;
// What a crowd writes, in no detail of a stream.
const CROWDS_WRITES = new Set([
  'recordAnswers',
  'recordWinners',
  'leaseSeats',
  'takeSeats',
] as const);

/** Puts the service together. @param onSealed told the lateness of each sealing in ms */
export async function createService(
  given: ServiceOptions,
  onSealed: (latenessMs: number) => void,
): Promise<Service> {
  const { store, writes } = countWrites(procedures, given.store, CROWDS_WRITES);
  const options = { ...given, store };
  const { config, listener } = options;
  const parts = await partsOf(options, writes, onSealed);
  const { requests, realtime, answers } = parts;
  const { corsOrigin, trustProxy, roles } = config;
  const endpoints = [
    ...endpointsOf(viewerApi, viewerHandlers(options, parts)),
    ...endpointsOf(studioApi, producerHandlers(options, parts)),
  ];
  const routes = createRoutes(endpoints, {
    roles,
    corsOrigin,
    trustProxy,
    listener,
    log: requests,
  });
  return {
    routes: { ...routes, ...parts.media?.routes },
    gatewayBackend: createLocalGatewayBackend({
      ...parts,
      clock: options.clock,
      corsOrigin,
      presence: realtime.presence,
      log: realtime.feed,
    }),
    workerServices: {
      clock: options.clock,
      store,
      realtime,
      viewerTokens: parts.viewerTokens,
      moderation: parts.moderation,
      requests,
      tokenCacheSize: config.tokenCacheSize,
    },
    sockets: parts.media?.sockets,
    fetch: notFoundHandler(corsOrigin, requests),
    stats: {
      requests,
      answers,
      viewersByStream: () => realtime.presence.liveCounts(),
      feed: () => realtime.load(),
      watermark: () => realtime.feed.watermark(),
      feedLagMs: () => realtime.lagMs(),
      additional: [
        ...(parts.media?.metrics ?? []),
        ...parts.webhooks.metrics,
        ...parts.rehearsals.metrics,
      ],
    },
    ...lifeOf(options, parts),
  };
}

function viewerHandlers(
  { config, store, clock }: ServiceOptions,
  parts: Parts,
): Handlers<typeof viewerApi> {
  const { credentials, rates } = parts;
  return {
    ...timeHandlers(clock),
    ...accountHandlers(credentials),
    ...streamHandlers({ store, details: parts.details, credentials, originOf: parts.originOf }),
    ...tokenHandlers({
      store,
      credentials,
      viewerTokens: parts.viewerTokens,
      keyring: parts.keyring,
      clock,
      rate: rates.tokens,
      access: config.tokenAuth,
    }),
    ...viewCountHandlers(parts.realtime.presence, credentials),
    ...answerHandlers({ answers: parts.answerService, credentials, clock }),
    ...parts.feed,
    ...createChat({
      chat: parts.chat,
      credentials,
      clock,
      rate: rates.chat,
      newId: parts.newId,
      moderation: parts.moderation,
      slowMode: parts.slowMode,
    }).viewerHandlers,
  };
}

function producerHandlers(
  { config, store, clock }: ServiceOptions,
  {
    credentials,
    sessions,
    rates,
    requests,
    originOf,
    newId,
    media,
    live,
    moderation,
    rehearsals,
  }: Parts,
): Handlers<typeof studioApi> {
  return studioHandlers({
    store,
    credentials,
    sessions,
    passwords: new Passwords(),
    signInRates: { byAddress: rates.signIn, byEmail: rates.passwords },
    clock,
    rate: rates.studio,
    log: requests,
    originOf,
    newId,
    live: live.handlers,
    runner: rehearsals,
    moderation,
    randomBytes: (n) => systemRandomBytes(n),
    webhookPolicy: config.webhooks,
    // Among many nodes another has video, with the same settings.
    ...((media || config.database) && { ingestAddresses: media?.addresses ?? config.media }),
  });
}

function lifeOf(
  { config, store, clock, logger }: ServiceOptions,
  {
    realtime,
    streams,
    live,
    keyring,
    viewerTokens,
    serviceTokens,
    media,
    webhooks,
    reports,
    moderation,
    rehearsals,
  }: Parts,
): Pick<Service, 'begin' | 'seal' | 'deliver' | 'report' | 'unready' | 'drain' | 'end'> {
  let draining = false;
  let upkeep: Timer | null = null;
  const keepUp = () => {
    const nowMs = clock.nowMs();
    viewerTokens.removeExpired();
    const work = [
      keyring.refresh(nowMs),
      serviceTokens.recordUses(),
      store.deleteExpiredIdempotencyKeys({ nowMs }),
      store.forgetEnded({ nowMs }),
    ];
    // What is unavailable is told of elsewhere, once; this comes again every ten seconds.
    Promise.all(work).catch((error) => {
      if (!(error instanceof Unavailable)) logger.warn({ err: error }, 'upkeep failed');
    });
  };
  return {
    begin: async () => {
      realtime.start();
      upkeep = setInterval(keepUp, UPKEEP_MS);
      webhooks.start();
      moderation.start();
      if (config.roles.has('studio')) reports.start();
      if (config.roles.has('studio')) rehearsals.start();
      await media?.start();
    },
    seal: () => realtime.seal(),
    deliver: () => webhooks.sendAll(),
    report: () => reports.makeAll(),
    unready: () => {
      if (draining) return 'The service is stopping.';
      if (realtime.lagMs() > BEHIND_MAX_MS) return 'Sealing is behind.';
      return realtime.unavailable();
    },
    drain: async () => {
      draining = true;
      // Their viewers would only wait for what is to come.
      rehearsals.stop();
      const released = Promise.all([
        realtime.drain(),
        media?.drain(),
        webhooks.stop(),
        reports.stop(),
      ]);
      streams.endAll();
      live.stop();
      await released;
    },
    end: async () => {
      if (upkeep) clearInterval(upkeep);
      moderation.stop();
      await realtime.stop();
      await media?.close();
      await serviceTokens.recordUses().catch(() => {});
    },
  };
}
