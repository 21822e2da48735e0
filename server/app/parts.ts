import type { Logger } from 'pino';
import { createAccounts } from '../auth/accounts/accounts.ts';
import { Credentials } from '../auth/credentials.ts';
import { ExportSlices } from '../auth/export-slices.ts';
import { LargeOperations } from '../auth/large-operations.ts';
import { LargeResponses } from '../auth/large-responses.ts';
import { createMembers } from '../auth/members/members.ts';
import { PasswordLimit } from '../auth/members/password-limit.ts';
import { createPresenterKeys } from '../auth/presenter-keys/presenter-keys.ts';
import { type StudioContext, studioHandlerFactory } from '../auth/studio-handler.ts';
import { StudioRate } from '../auth/studio-rate.ts';
import { createViewerTokens } from '../auth/viewer-tokens/viewer-tokens.ts';
import { WriteBytes } from '../auth/write-bytes.ts';
import { createChat } from '../domains/chat/chat-routes.ts';
import { ViewerNames } from '../domains/chat/viewer-names.ts';
import { createExports } from '../domains/exports/export-routes.ts';
import { createHistory } from '../domains/history/history-routes.ts';
import { createLive } from '../domains/live/live-routes.ts';
import { createModeration } from '../domains/moderation/moderation.ts';
import { createPresenter } from '../domains/presenter/presenter-routes.ts';
import { createProducts } from '../domains/products/product-routes.ts';
import { createQuizzes } from '../domains/quizzes/quizzes.ts';
import { cachedWinnerCode, createWinnerCode } from '../domains/quizzes/winner-code.ts';
import { localAddressOf } from '../domains/rehearsals/rehearsal-runner.ts';
import { createRehearsals } from '../domains/rehearsals/rehearsals.ts';
import { createReports } from '../domains/reports/reports.ts';
import { createRundown } from '../domains/rundown/rundown-routes.ts';
import { ArchivedStreams } from '../domains/streams/archived-streams.ts';
import { createStreams } from '../domains/streams/streams.ts';
import { createWebhooks } from '../domains/webhooks/webhooks.ts';
import { clientRateKey, type Listener, networkOf } from '../http/address.ts';
import { RequestLog } from '../http/request-log.ts';
import { createMedia } from '../media/media.ts';
import type { ServiceClock } from '../platform/clock.ts';
import type { Config, Rates } from '../platform/config.ts';
import { Pace } from '../platform/pace.ts';
import { KeyWindows, type RateLimit, RateLimiter, SeatWindows } from '../platform/rate-limiter.ts';
import { runtime } from '../platform/runtime.ts';
import { OpenStreams } from '../realtime/feed/open-streams.ts';
import type { CreateRealtime } from './backends.ts';
import { createPreviewAccess } from './preview-access.ts';
import type { Store } from './procedures.ts';

/** What a service is composed of. */
export interface ServiceOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly logger: Logger;
  readonly createRealtime: CreateRealtime;
  /** The watermark in the database: everything up to this interval is sealed. */
  readonly watermark: number;
  readonly listener: Listener;
  /** Random numbers in [0, 1) for chat samples and jitter. */
  readonly random: () => number;
}

export interface PartsOptions extends ServiceOptions {
  /** The number of writes that may have changed the detail of a stream. */
  readonly writes: () => number;
  /** Called after each sealing with its latency. */
  readonly onSealed: (latencyMs: number) => void;
}

export type Parts = Awaited<ReturnType<typeof createParts>>;

/** `https://`, the longest name and a port. */
const ORIGIN_CHARS_MAX = 'https://'.length + 253 + ':65535'.length;

const NO_INGEST_PORTS = { rtmpPort: null, srtPort: null };

/**
 * Creates the parts of the service, each with its factory: authentication, the realtime backend, the
 * domains, video. A part receives what it needs of others as parameters.
 * @throws Unavailable while the database or the realtime backend is unavailable
 */
export async function createParts(options: PartsOptions) {
  const { config, store, clock, logger, listener, random } = options;
  const rates = createRateLimiters(config.rates);
  const nowMs = () => clock.nowMs();
  const newId = () => runtime.newId();
  const randomBytes = (bytes: number) => runtime.randomBytes(bytes);
  const requests = new RequestLog(logger, randomBytes(4).toString('hex'));
  const isStudio = config.roles.has('studio');
  const baseUrl = config.publicUrl ?? `http://localhost:${config.port}`;
  const originOf = ({ url }: Request) => config.publicUrl ?? originIn(url) ?? baseUrl;

  const moderation = await createModeration({
    store,
    nowMs,
    onError: (error) => logger.warn({ err: error }, 'the moderation of chats could not be read'),
  });
  const { bans } = moderation.cache;
  const accounts = createAccounts({ store, clock, newId, randomBytes });
  const members = await createMembers({
    ...{ store, clock, originOf, newId, randomBytes },
    signInRate: rates.signIn,
    passwordLimit: new PasswordLimit(config.rates.passwords),
  });
  const viewerTokens = await createViewerTokens({
    ...{ store, clock, bans, randomBytes },
    issuer: baseUrl,
    cacheSize: config.tokenCacheSize,
    rate: rates.tokens,
    access: config.tokenAuth,
    onHalfFull: (streamId) =>
      logger.warn({ streamId }, 'half of the seats of a stream are taken; see FourbeatSeatsRunOut'),
  });
  const winnerCode = await createWinnerCode({ store, randomBytes });
  // Lists and exports of all winners have too many codes to keep.
  const shownCode = cachedWinnerCode(winnerCode);
  const presenterKeys = createPresenterKeys({ store, randomBytes });
  const credentials = new Credentials(
    viewerTokens.tokens,
    accounts.serviceTokens,
    members.sessions,
    presenterKeys.keys,
    rates.failedAuth,
    bans,
  );
  const large = new LargeResponses(requests);
  const context: StudioContext = {
    ...{ credentials, clock, originOf, large },
    rate: rates.studio,
    writeBytes: rates.writeBytes,
    largeOperations: new LargeOperations(new Pace(), (caller) => large.checkLarge(caller)),
    // Their responses are short, and a host on air needs them.
    messageSearches: new LargeOperations(new Pace(), (caller) => large.check(caller)),
    exports: new ExportSlices(new Pace()),
    log: requests,
  };
  const studio = studioHandlerFactory(context);

  const archived = new ArchivedStreams({ store, nowMs });
  const isArchived = (streamId: string) => archived.has(streamId);
  const { realtime, chat, slowMode } = await options.createRealtime({ ...options, isArchived });
  const openStreams = new OpenStreams(nowMs);
  moderation.cache.onBanned(async (streamId, seats) => {
    openStreams.endOf(streamId, seats);
    try {
      await realtime.presence.evict(streamId, seats);
    } catch (error) {
      logger.warn({ err: error }, 'banned viewers could not be evicted; they count for a second');
    }
  });

  const media = config.roles.has('media')
    ? await createMedia({
        ...{ config, store, clock, logger, newId },
        log: requests,
        addressOf: (request) => clientRateKey(request, listener, config.trustProxy),
        authorizePreview: createPreviewAccess({
          ...{ credentials, store },
          routeOptions: { listener, corsOrigin: config.corsOrigin, trustProxy: config.trustProxy },
        }),
      })
    : null;
  const live = createLive({
    ...{ context, store },
    winnerCode: shownCode,
    log: realtime.feed,
    presence: realtime.presence,
    onError: (error) => logger.warn({ err: error }, 'the live state of a show could not be read'),
  });

  return {
    ...{ requests, credentials, realtime, openStreams, media, live, isStudio },
    ...{ moderation, accounts, members, viewerTokens, studio, context, archived },
    presenterKeys: presenterKeys.handlers(studio),
    presenter: createPresenter({
      ...{ context, store },
      winnerCode: shownCode,
      showStreams: live.showStreams,
    }),
    streams: createStreams({
      ...{ studio, context, credentials, store, clock, originOf, newId, randomBytes },
      winnerCode,
      feed: realtime.feed,
      writes: options.writes,
      // With many nodes another one may have the role `media`, with the same settings.
      ingestAddresses: media?.addresses ?? (config.database ? config.media : NO_INGEST_PORTS),
    }),
    quizzes: createQuizzes({
      ...{ studio, credentials, store, clock, newId, winnerCode },
      largeOperations: context.largeOperations,
      rate: rates.answers,
    }),
    chat: createChat({
      ...{ chat, slowMode, credentials, clock, newId, isArchived },
      rate: rates.chat,
      moderation: moderation.cache,
      names: new ViewerNames({
        store,
        onError: (error) => logger.warn({ err: error }, 'names of viewers could not be stored'),
      }),
    }),
    products: createProducts({ studio, store, newId }),
    rundown: createRundown({ studio, context, store, newId }),
    webhooks: createWebhooks({
      ...{ studio, store, clock, logger, newId, random, randomBytes },
      webhookPolicy: config.webhooks,
      sends: isStudio,
    }),
    exports: createExports({ context, store, winnerCode }),
    history: createHistory({ studio, context, store }),
    reports: createReports({ studio, context, store, clock, logger, newId }),
    rehearsals: createRehearsals({
      ...{ studio, store, clock, logger, newId },
      largeOperations: context.largeOperations,
      roles: config.roles,
      localAddress: () => localAddressOf(config, listener),
      issueToken: (...input) => viewerTokens.tokens.issue(...input),
    }),
  };
}

/** The rate limiters of the service, each with the name of what it counts (SPEC L). */
function createRateLimiters(rates: Rates) {
  const byKey = (name: string, limit: RateLimit) =>
    new RateLimiter(name, new KeyWindows(limit, { networkOf }));
  return {
    tokens: byKey('viewer tokens', rates.tokens),
    failedAuth: byKey('failed authentications from this address', rates.failedAuth),
    answers: new RateLimiter('answers of this viewer', new SeatWindows(rates.answers)),
    chat: byKey('posts of this viewer', rates.chat),
    studio: new StudioRate(rates.studio),
    writeBytes: new WriteBytes(rates.studio),
    signIn: byKey('tries to sign in from this address', rates.signIn),
  };
}

/**
 * @returns null when the client left no origin to use: it sent HTTP/1.0, or an invalid Host. One of 15 KB made
 *   a list of 100 streams 3 MB long.
 */
function originIn(url: string): string | null {
  const origin = URL.parse(url)?.origin ?? null;
  return origin !== null && origin.length <= ORIGIN_CHARS_MAX ? origin : null;
}
