import { randomBytes as systemRandomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { ServiceTokens } from '../auth/accounts/service-tokens.ts';
import { Credentials } from '../auth/credentials.ts';
import { Sessions } from '../auth/members/sessions.ts';
import { PresenterKeys } from '../auth/presenter-keys/presenter-keys.ts';
import { Keyring } from '../auth/viewer-tokens/keyring.ts';
import { ViewerTokens } from '../auth/viewer-tokens/viewer-tokens.ts';
import { createLive } from '../domains/live/live-routes.ts';
import { ModerationCache } from '../domains/moderation/moderation-cache.ts';
import { createPresenter } from '../domains/presenter/presenter-routes.ts';
import { AnswerService } from '../domains/quizzes/answer-service.ts';
import type { AnswerDecision } from '../domains/quizzes/quiz-rules.ts';
import { localAddressOf, RehearsalRunner } from '../domains/rehearsals/rehearsal-runner.ts';
import { ReportMaker } from '../domains/reports/report-maker.ts';
import { StreamDetailCache } from '../domains/streams/stream-detail-cache.ts';
import { createPost } from '../domains/webhooks/post.ts';
import { WebhookSender } from '../domains/webhooks/sender.ts';
import { clientRateKey, type Listener } from '../http/address.ts';
import { RequestLog } from '../http/request-log.ts';
import { createMedia } from '../media/media.ts';
import type { ServiceClock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import { feedHandlers } from '../realtime/feed/feed-routes.ts';
import { OpenStreams } from '../realtime/feed/open-streams.ts';
import type { CreateRealtime } from './backends.ts';
import type { Store } from './procedures.ts';
import { ratesOf } from './rate-limits.ts';

/** What a service is put together from. */
export interface ServiceOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly logger: Logger;
  readonly createRealtime: CreateRealtime;
  /** The watermark of the database: everything up to here is sealed. */
  readonly watermark: number;
  readonly listener: Listener;
  /** Numbers in [0, 1) for samples. */
  readonly random: () => number;
}

/** The domains' parts. */
export type Parts = Awaited<ReturnType<typeof partsOf>>;

/** The domains' parts, on the database and the realtime backend that were chosen. @param writes see `StreamDetails` */
export async function partsOf(
  options: ServiceOptions,
  writes: () => number,
  onSealed: (latenessMs: number) => void,
) {
  const { config, store, clock, logger } = options;
  const rates = ratesOf(config.rates);
  const baseUrl = config.publicUrl ?? `http://localhost:${config.port}`;
  const keyring = new Keyring(store);
  await keyring.refresh(clock.nowMs());
  const moderation = new ModerationCache({
    store,
    nowMs: () => clock.nowMs(),
    onError: (error) => logger.warn({ err: error }, 'how chats are moderated cannot be read'),
  });
  await moderation.refresh();
  const viewerTokens = new ViewerTokens({
    bans: moderation,
    store,
    keyring,
    clock,
    issuer: baseUrl,
    audience: 'fourbeat',
    viewerSecret: await store.keepSecret({
      name: 'viewer',
      offered: systemRandomBytes(32).toString('base64url'),
    }),
    cacheSize: config.tokenCacheSize,
  });
  const serviceTokens = new ServiceTokens(store, clock);
  // A client of HTTP/1.0, or with a Host that is none, leaves no origin to go by.
  const originOf = ({ url }: Request) => config.publicUrl ?? URL.parse(url)?.origin ?? baseUrl;
  const sessions = new Sessions({ store, clock, originOf });
  const credentials = new Credentials(
    viewerTokens,
    serviceTokens,
    sessions,
    new PresenterKeys(store),
    rates.failedAuth,
    moderation,
  );
  const { watermark, random } = options;
  const { realtime, chat, slowMode } = await options.createRealtime({
    store,
    clock,
    logger,
    watermark,
    random,
    onSealed,
  });
  const requests = new RequestLog(logger, systemRandomBytes(4).toString('hex'));
  const newId = () => crypto.randomUUID();
  const media = config.roles.has('media')
    ? await createMedia({
        config,
        store,
        clock,
        logger,
        log: requests,
        newId,
        addressOf: (request) => clientRateKey(request, options.listener, config.trustProxy),
      })
    : null;
  const post = config.roles.has('studio') ? createPost({ policy: config.webhooks }) : null;
  const webhooks = new WebhookSender({ store, clock, logger, post, newId, random });
  const streams = new OpenStreams(() => clock.nowMs());
  moderation.onBanned(async (streamId, seats) => {
    streams.endOf(streamId, seats);
    try {
      await realtime.presence.evict(streamId, seats);
    } catch (error) {
      logger.warn({ err: error }, 'who was banned is counted for a second more');
    }
  });
  const answers: Record<AnswerDecision, number> = {
    accepted: 0,
    duplicate: 0,
    conflict: 0,
    closed: 0,
  };
  const context = { credentials, clock, rate: rates.studio, log: requests, originOf };
  const live = createLive({
    context,
    store,
    log: realtime.feed,
    presence: realtime.presence,
    onError: (error) => logger.warn({ err: error }, 'the live state of a show could not be read'),
  });
  const presenter = createPresenter({ context, store, showStreams: live.showStreams });
  return {
    rehearsals: new RehearsalRunner({
      store,
      clock,
      logger,
      node: newId(),
      roles: config.roles,
      localAddress: () => localAddressOf(config, options.listener),
      issueToken: (...asked) => viewerTokens.issue(...asked),
    }),
    moderation,
    requests,
    media,
    webhooks,
    reports: new ReportMaker({ store, clock, logger, newId }),
    rates,
    keyring,
    viewerTokens,
    serviceTokens,
    sessions,
    credentials,
    realtime,
    chat,
    slowMode,
    live: { ...live, handlers: { ...live.handlers, ...presenter.handlers } },
    streams,
    feed: feedHandlers({
      log: realtime.feed,
      clock,
      credentials,
      streams,
      edgeCache: config.edgeCache,
    }),
    details: new StreamDetailCache({ store, clock, writes }),
    answers,
    answerService: new AnswerService({
      store,
      clock,
      rate: rates.answers,
      onDecided: (decision) => void answers[decision]++,
    }),
    newId,
    originOf,
  };
}
