import type { KnownViewer } from '../auth/viewer-tokens/viewer-tokens.ts';
import type { AnswerService } from '../domains/quizzes/answer-service.ts';
import type { ResponseCounter } from '../http/request-log.ts';
import type { Unavailable } from '../platform/errors.ts';
import type { FeedLog } from '../realtime/feed/feed-log.ts';
import type { OpenStreams } from '../realtime/feed/open-streams.ts';

/**
 * What a front needs to know of the service to answer what viewers ask most. The main thread has it
 * at hand; a worker has what the main thread tells it. Whatever is missing (`null`) is not answered
 * here: such requests are passed on, and so is each for which one of these says no, but for that the
 * service cannot do it now (`Unavailable`).
 */
export interface GatewayBackend {
  /** Service time. */
  nowMs(): number;
  readonly tokens: FrontTokens;
  readonly heartbeats: FrontHeartbeats | null;
  readonly feed: FrontFeed | null;
  readonly quizzes: FrontQuizzes | null;
}

export interface FrontTokens {
  /** The viewer of a token that was checked before; it may have expired since. */
  known(token: string): KnownViewer | null;
  /** As `known`, of the token in these bytes, for as long as they do not change. */
  find(bytes: Buffer, from: number, to: number): KnownViewer | null;
  /** The viewer of a token, checked now; null when it is not one of ours that is valid. */
  check(token: string): Promise<KnownViewer | null>;
  /** Whether this viewer was sent out of the show. */
  isBanned(viewer: KnownViewer): boolean;
}

/** An operation that a front answers. */
export interface FrontOperation {
  /** Counts its answers. */
  readonly counter: ResponseCounter;
  /** What the path takes: `Allow` of its answers. */
  readonly allow: string;
  /**
   * A request is told 503; this is for the log.
   * @param given the id that it came with; null: none
   * @returns the id that it has
   */
  refused(given: string | null, error: Unavailable): string;
}

/** `POST` of the view count. */
export interface FrontHeartbeats extends FrontOperation {
  /**
   * @param nowMs service time, just read: to read it takes as long as to register
   * @throws Unavailable when nobody can be counted now, which the client is told; Error when the inner
   *   server must see it
   */
  register(streamId: string, seat: number, nowMs: number): void;
}

export interface FrontQuizzes {
  readonly desk: Pick<AnswerService, 'tryAnswer' | 'tryClaim'>;
  /** `POST` of an answer. */
  readonly answers: FrontQuizzesOf;
  /** `POST` of a report of a winner. */
  readonly reports: FrontQuizzesOf;
}

export interface FrontQuizzesOf {
  readonly counter: ResponseCounter;
  readonly allow: string;
  /** What a client is told of an error, which is logged. @param headers those that have a say in it */
  refusal(error: unknown, headers: Readonly<Record<string, string>>): Response;
}

/** `GET` of an interval. */
export interface FrontFeed extends FrontOperation {
  readonly log: FrontFeedLog;
  /** The event streams that are open; the origin server has the same. */
  readonly streams: OpenStreams;
}

/** The part of `FeedLog` that a front reads. */
export type FrontFeedLog = Omit<FeedLog, 'watched'>;
