import { CountLedger, type Heartbeat } from '../../../crowd/ledger/count-ledger.ts';
import { intervalStartMs } from '../../../protocol/interval.ts';
import {
  ConsistencyChecker,
  eventsOf,
  type PublishedQuiz,
  type ReadEvent,
} from '../kill/consistency-checker.ts';
import type { Observer, SentRequest } from './client-network.ts';
import { type ChatsEvent, PostLedger } from './post-ledger.ts';
import type { Timeline } from './timeline.ts';

const FEED = /^\/api\/v1\/events-streams\/[^/?]+\?interval=(\d+)$/;
const HEARTBEAT = /^\/api\/v1\/view-counts\/[^/]+$/;
const ANSWER = /^\/api\/v1\/quizzes\/([^/]+)\/answer$/;
const STREAM_MESSAGE = /^id: (\d+)\ndata: (.+)$/;
const CHAT = /^\/api\/v1\/events-streams\/[^/]+\/chats$/;
const CLAIM = /^\/api\/v1\/quizzes\/[^/]+\/record-winner$/;

/** In the response to a viewer token that is not valid (T-6). */
const EXPIRED_TOKEN = 'The viewer token is not valid or has expired.';

/** I-7: a request is answered within this time of its arrival, a long poll within the second. */
const RESPONSE_MAX_MS = 1_200;
const LONG_POLL_MAX_MS = 2_300;

/** A viewer sends fewer requests than this in a second, its messages left out: 17 at most in 250 seeds. */
const REQUESTS_MAX = 40;

/** Service time changes by less than this between two readings, unless it steps forward. */
const CLOCK_MARGIN_MS = 20;
/** A fault may change counts until this long after its end. */
const CALM_MS = 4_000;

export interface OracleOptions {
  readonly timeline: Timeline;
  /** Receives what it finds. */
  readonly violations: string[];
  /** Gets everything that was sent and received. */
  readonly hash: Bun.CryptoHasher;
  /** Smallest and largest difference of service time to true time, ms: `Cluster.serviceOffsets`. */
  readonly serviceOffsets: () => { readonly minMs: number; readonly maxMs: number };
  /** Whether acknowledged writes are lost (N-22): then only I-1, I-5, I-7 and recovery are judged. */
  readonly isLossy: boolean;
}

interface Claim {
  readonly viewer: string;
  /** Index of the newest round that was open for certain when the claim was sent; -1: none was. */
  readonly firstRound: number;
  /** Index of the newest round that may have been open when the claim ended. */
  readonly lastRound: number;
  readonly status: number | null;
}

/**
 * Judges what the service did by what its clients sent and received: I-1 to I-5, I-7, and of I-6 that
 * no correct answer is in the feed before its results. One oracle judges one
 * stream.
 */
export class Oracle {
  readonly checker: ConsistencyChecker;
  // Intervals may be read long after their time.
  private readonly ledger = new CountLedger(Number.POSITIVE_INFINITY);
  private readonly heartbeats = new Map<SentRequest, Heartbeat>();
  private readonly answersOf = new Map<string, string>();
  private readonly rounds: { id: string; quizzes: readonly PublishedQuiz[] }[] = [];
  private roundCounts = 0;
  private game: PublishedQuiz[] = [];
  private readonly claims: Claim[] = [];
  /** The `firstRound` of the claims under way. */
  private readonly sentClaims = new Map<SentRequest, number>();
  private isRoundRequested = false;
  private readonly posts: PostLedger;
  private readonly sentEvents = new Set<number>();
  private readonly acknowledgedEvents = new Set<number>();
  readonly figures = { requests: 0, unavailable: 0, counts: 0, answers: 0 };

  constructor(private readonly options: OracleOptions) {
    this.posts = new PostLedger(options.timeline);
    this.checker = new ConsistencyChecker(
      (violation) => this.fail(violation),
      '',
      (event) => this.onNewEvent(event),
    );
  }

  fail(violation: string): void {
    this.options.violations.push(violation);
    this.options.timeline.add(`VIOLATION: ${violation}`);
  }

  /** Fails, unless acknowledged writes were lost. */
  failUnlessLossy(violation: string): void {
    if (!this.options.isLossy) this.fail(violation);
  }

  quizPublishing(id: string, answer: string): void {
    this.answersOf.set(id, answer);
  }

  quizPublished(quiz: PublishedQuiz): void {
    const published = { ...quiz, answer: this.answersOf.get(quiz.id) as string };
    this.game.push(published);
    this.checker.quizPublished(published);
  }

  /**
   * The producer sends a request for winners. Its round opens some time before the producer learns of
   * it, and, while sealing is late, seconds before viewers do.
   */
  roundRequested(): void {
    this.isRoundRequested = true;
  }

  /** W-1: its game has the quizzes published since the round before. */
  roundOpened(id: string): void {
    this.rounds.push({ id, quizzes: this.game });
    this.game = [];
    this.isRoundRequested = false;
  }

  roundRefused(): void {
    this.isRoundRequested = false;
  }

  /** Whether viewers got no count of a round yet. */
  get isCountMissing(): boolean {
    return this.roundCounts < this.rounds.length;
  }

  eventSent(number: number): void {
    this.sentEvents.add(number);
  }

  eventAcknowledged(number: number): void {
    this.acknowledgedEvents.add(number);
  }

  /** Observes the SDK of a viewer. @param seat names the viewer in the ledger */
  observerOfSdk(viewer: string, seat: number): Observer {
    const observer = this.observerOf(viewer, seat);
    let sentMs: readonly number[] = [];
    return {
      ...observer,
      onSent: (request) => {
        observer.onSent(request);
        if (CHAT.test(request.path)) return;
        sentMs = [...sentMs.filter((atMs) => atMs > request.sentMs - 1_000), request.sentMs];
        if (sentMs.length === REQUESTS_MAX)
          this.fail(`${viewer}: ${REQUESTS_MAX} requests in a second`);
      },
    };
  }

  /** Observes the requests of a viewer. @param seat names the viewer in the ledger */
  observerOf(viewer: string, seat: number): Observer {
    return {
      onSent: (request) => {
        this.figures.requests++;
        if (request.method === 'POST' && HEARTBEAT.test(request.path)) {
          const earliestMs = request.sentMs + this.options.serviceOffsets().minMs - CLOCK_MARGIN_MS;
          this.heartbeats.set(request, this.ledger.sent(seat, earliestMs));
        }
        if (CLAIM.test(request.path)) this.sentClaims.set(request, this.rounds.length - 1);
      },
      onEnd: (request, text) => this.onEnd(viewer, request, text),
      onStreamData: (_, text) => this.onStreamData(text),
    };
  }

  /** The producer's requests: their outcomes are reported by the producer. */
  readonly producerObserver: Observer = {
    onSent: () => {
      this.figures.requests++;
    },
    onEnd: (request, text) => this.checkResponse(request, text),
    onStreamData: () => {},
  };

  private onEnd(viewer: string, request: SentRequest, text: string): void {
    this.checkResponse(request, text);
    const { path, method, status } = request;
    const heartbeat = this.heartbeats.get(request);
    if (heartbeat) {
      this.heartbeats.delete(request);
      const offsetMs = this.options.serviceOffsets().maxMs + CLOCK_MARGIN_MS;
      const latestMs = (request.endedMs as number) + offsetMs;
      if (status === 204) this.ledger.acknowledged(heartbeat, latestMs);
      else this.ledger.lost(heartbeat, latestMs);
    }
    const interval = method === 'GET' ? FEED.exec(path)?.[1] : undefined;
    if (interval !== undefined && status === 200 && !request.isStream) {
      if (text === '') this.fail(`interval ${interval} has an empty body`);
      else this.checker.served(Number(interval), text);
    }
    const quizId = ANSWER.exec(path)?.[1];
    if (quizId !== undefined) this.onAnswer(viewer, quizId, request);
    if (CHAT.test(path)) this.posts.onEnd(request);
    const firstRound = this.sentClaims.get(request);
    if (firstRound !== undefined) {
      this.sentClaims.delete(request);
      const lastRound = this.rounds.length - (this.isRoundRequested ? 0 : 1);
      // An expired token is refused before the claim is looked at.
      const isJudged = !text.includes(EXPIRED_TOKEN);
      this.claims.push({ viewer, firstRound, lastRound, status: isJudged ? status : null });
    }
  }

  private onAnswer(viewer: string, quizId: string, { body, status }: SentRequest): void {
    const { choice } = JSON.parse(body as string) as { choice: string };
    this.figures.answers++;
    if (this.options.isLossy) return;
    if (status === 204) this.checker.answered(quizId, viewer, choice, 'acknowledged');
    else if (status === 409) this.checker.answered(quizId, viewer, choice, 'refused');
    else this.checker.gaveUp(quizId, viewer, choice);
  }

  private onStreamData(text: string): void {
    for (const message of text.split('\n\n')) {
      const [, id, data] = STREAM_MESSAGE.exec(message) ?? [];
      if (data !== undefined) this.checker.served(Number(id), data);
      else if (message !== '' && !message.startsWith(':'))
        this.fail(`an event stream contains ${JSON.stringify(message)}`);
    }
  }

  private checkResponse(request: SentRequest, text: string): void {
    this.options.hash.update(
      `${request.endedMs} ${request.method} ${request.path} ${request.status} ${text}\n`,
    );
    const { path, method, status, arrivedMs, respondedMs, retryAfter } = request;
    if (status === 503) {
      this.figures.unavailable++;
      if (retryAfter === null) this.fail(`503 without Retry-After to ${method} ${path}`);
    }
    if (status !== null && status >= 500 && status !== 503) {
      this.fail(`${status} to ${method} ${path}: ${text}`);
    }
    // Of a request whose node ended nothing is expected.
    if (arrivedMs === null || (respondedMs === null && request.wasReset)) return;
    const untilMs = respondedMs ?? (request.endedMs as number);
    const limitMs = FEED.test(path) ? LONG_POLL_MAX_MS : RESPONSE_MAX_MS;
    const stalledMs = this.options.timeline.stalledMs(request.slot, arrivedMs, untilMs);
    if (untilMs - arrivedMs - stalledMs > limitMs) {
      const outcome = respondedMs === null ? 'no response' : request.respondedStatus;
      this.fail(`${outcome} to ${method} ${path} after ${(untilMs - arrivedMs).toFixed(0)} ms`);
    }
  }

  private onNewEvent({ interval, type, data }: ReadEvent): void {
    if (type === 'chats') this.posts.onChats(data as ChatsEvent);
    if (type === 'quiz-winners') this.roundCounts++;
    if (type !== 'view-count') return;
    const { value } = data as { value: number };
    const { low, high } = this.ledger.boundsAtEndOf(interval);
    this.figures.counts++;
    if (value > high) {
      this.fail(`interval ${interval}: a count of ${value}, the heartbeats allow ${high}`);
    }
    const endMs = intervalStartMs(interval + 1) - this.options.serviceOffsets().maxMs;
    if (value < low && this.options.timeline.isCalmSince(endMs - CALM_MS)) {
      this.fail(`interval ${interval}: a count of ${value}, the heartbeats require ${low}`);
    }
  }

  /** Judges the whole show. Call it when the feed was read again on every node. */
  judge(): void {
    const { checker } = this;
    if (this.options.isLossy) return;
    for (const number of this.sentEvents) {
      if (this.acknowledgedEvents.has(number)) checker.eventAcknowledged(number);
      else checker.eventUnknown(number);
    }
    const events = checker
      .servedIntervals()
      .flatMap((interval) => eventsOf(interval, checker.bodyOf(interval)));
    this.judgeRounds();
    for (const violation of this.posts.judge()) this.fail(violation);
    checker.checkFeed(events);
  }

  private judgeRounds(): void {
    for (const [index, { id, quizzes }] of this.rounds.entries()) {
      this.checker.roundOpened(id, quizzes);
      const isRetry = new Set<string>();
      for (const { viewer, firstRound, lastRound, status } of this.claims) {
        if (index < firstRound || index > lastRound) continue;
        const isOfThisRound = firstRound === lastRound;
        if (isOfThisRound && (status === 204 || status === 401 || status === 409)) {
          this.checker.claimed(viewer, status, isRetry.has(viewer));
        } else {
          isRetry.add(viewer);
          this.checker.claimUnknown(viewer);
        }
      }
    }
  }
}
