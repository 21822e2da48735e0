import { randomBytes as systemRandomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { ServiceTokens } from '../auth/accounts/service-tokens.ts';
import { Credentials } from '../auth/credentials.ts';
import { Sessions } from '../auth/members/sessions.ts';
import { PresenterKeys } from '../auth/presenter-keys/presenter-keys.ts';
import { Keyring } from '../auth/viewer-tokens/keyring.ts';
import { ViewerTokens } from '../auth/viewer-tokens/viewer-tokens.ts';
import { liveHandlers } from '../domains/live/live-routes.ts';
import { ChatRooms } from '../domains/moderation/chat-rooms.ts';
import { AnswerService } from '../domains/quizzes/answer-service.ts';
import type { AnswerDecision } from '../domains/quizzes/arrived-answer.ts';
import { placeOf, Rehearsals } from '../domains/rehearsals/rehearsals.ts';
import { ReportMaker } from '../domains/reports/report-maker.ts';
import { StreamDetails } from '../domains/streams/stream-details.ts';
import { createPost } from '../domains/webhooks/post.ts';
import { WebhookSender } from '../domains/webhooks/sender.ts';
import { addressOf, type Listener } from '../http/address.ts';
import { RequestLog } from '../http/request-log.ts';
import { createMedia } from '../media/media.ts';
import type { ServiceClock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { CreateRealtimeBackend } from '../realtime/coordination/realtime-backend.ts';
import { feedHandlers } from '../realtime/feed/feed-routes.ts';
import { OpenStreams } from '../realtime/feed/open-streams.ts';
import type { Store } from './procedures.ts';
import { ratesOf } from './rate-limits.ts';

/** What a service is put together from. */
export interface ServiceOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: ServiceClock;
  readonly logger: Logger;
  readonly createRealtimeBackend: CreateRealtimeBackend;
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
  const rooms = new ChatRooms({
    store,
    nowMs: () => clock.nowMs(),
    onDefect: (error) => logger.warn({ err: error }, 'how chats are moderated cannot be read'),
  });
  await rooms.look();
  const viewerTokens = new ViewerTokens({
    bans: rooms,
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
    rooms,
  );
  const { watermark, random } = options;
  const realtime = await options.createRealtimeBackend({
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
        addressOf: (request) => addressOf(request, options.listener, config.trustProxy),
      })
    : null;
  const post = config.roles.has('studio') ? createPost({ policy: config.webhooks }) : null;
  const webhooks = new WebhookSender({ store, clock, logger, post, newId, random });
  const streams = new OpenStreams(() => clock.nowMs());
  rooms.onBanned(async (streamId, seats) => {
    streams.endOf(streamId, seats);
    try {
      await realtime.presence.evict(streamId, seats);
    } catch (error) {
      logger.warn({ err: error }, 'who was banned is counted for a second more');
    }
  });
  const answers: Record<AnswerDecision, number> = { record: 0, same: 0, other: 0, closed: 0 };
  return {
    rehearsals: new Rehearsals({
      store,
      clock,
      logger,
      node: newId(),
      roles: config.roles,
      place: () => placeOf(config, options.listener),
      issueToken: (...asked) => viewerTokens.issue(...asked),
    }),
    rooms,
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
    live: liveHandlers(
      { credentials, clock, rate: rates.studio, log: requests, originOf },
      {
        store,
        log: realtime.feed,
        presence: realtime.presence,
        onDefect: (error) => logger.warn({ err: error }, 'a show cannot be read for the studio'),
      },
    ),
    streams,
    feed: feedHandlers({
      log: realtime.feed,
      clock,
      credentials,
      streams,
      edgeCache: config.edgeCache,
    }),
    details: new StreamDetails({ store, clock, writes }),
    answers,
    answerDesk: new AnswerService({
      store,
      clock,
      rate: rates.answers,
      onDecided: (decision) => void answers[decision]++,
    }),
    newId,
    originOf,
  };
}
