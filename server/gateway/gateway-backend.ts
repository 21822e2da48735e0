import type { BanList, TokenCache } from '../auth/viewer-tokens/checked-viewers.ts';
import type { ViewerTokens } from '../auth/viewer-tokens/viewer-tokens.ts';
import type { AnswerService } from '../domains/quizzes/answer-service.ts';
import type { Clock } from '../platform/clock.ts';
import type { Unavailable } from '../platform/errors.ts';
import type { ResponseCounter } from '../platform/response-counter.ts';
import type { FeedLog } from '../realtime/feed/feed-log.ts';
import type { OpenStreams } from '../realtime/feed/open-streams.ts';
import type { PresenceRegistry } from '../realtime/presence/presence-registry.ts';

/**
 * The services that the fast paths of a gateway use. On the main thread these are the service itself; a
 * worker thread has copies that the main thread keeps up to date. Requests for an operation that is
 * `null` go to the origin server.
 */
export interface GatewayBackend {
  /** Service time. */
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly tokens: TokenLookup;
  readonly bans: BanList;
  readonly heartbeats: HeartbeatOperation | null;
  readonly feed: FeedOperation | null;
  readonly quizzes: QuizOperations | null;
}

/** A cache of verified tokens, and the verification of other tokens. */
export interface TokenLookup extends Pick<ViewerTokens, 'check'> {
  readonly cache: Pick<TokenCache, 'get' | 'find'>;
}

/** An operation that fast paths respond to. */
export interface GatewayOperation {
  readonly counter: ResponseCounter;
  /** The `Allow` header of responses. */
  readonly allow: string;
  /**
   * Logs a response with status 503.
   * @param requestId `X-Request-Id` of the request; null without one
   * @returns the id of the request, for the response
   */
  logUnavailable(requestId: string | null, error: Unavailable): string;
}

/** `POST` of a heartbeat. */
export interface HeartbeatOperation extends GatewayOperation {
  /** `register` throws `Unavailable` for a 503. After any other error the gateway relays the request. */
  readonly presence: Pick<PresenceRegistry, 'register'>;
}

/** `GET` of an interval or an event stream. */
export interface FeedOperation extends GatewayOperation {
  readonly log: GatewayFeedLog;
  /** The open event streams of the gateway and the origin server. */
  readonly streams: OpenStreams;
  /** Whether a proxy in front of the service adds the last entry of `X-Forwarded-For`. */
  readonly trustProxy: boolean;
}

/** The part of the feed log that a gateway reads. */
export type GatewayFeedLog = Omit<FeedLog, 'activeStreams'>;

export interface QuizOperations {
  readonly service: Pick<AnswerService, 'tryAnswer' | 'tryClaim'>;
  /** `POST` of an answer. */
  readonly answers: QuizOperation;
  /** `POST` of a winner report. */
  readonly winnersReports: QuizOperation;
}

export interface QuizOperation extends Pick<GatewayOperation, 'counter' | 'allow'> {
  /** Logs an error and builds its response. */
  errorResponse(error: unknown, preferences: ErrorPreferences): Response;
}

/** The request headers that decide the form of an error response. */
export type ErrorPreferences = Readonly<Record<string, string>>;
