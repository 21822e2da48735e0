import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import { realEnvironment } from '../environment.ts';
import type { ChatKind, Quiz, Stream, StreamEvent } from '../types.ts';
import { MockAudience } from './mock-audience.ts';
import { MockChat } from './mock-chat.ts';
import { MockFeed, type MockTime } from './mock-feed.ts';
import { MockQuizzes, type NewQuiz } from './mock-quizzes.ts';
import { bodyOf, json, MockProblem, noContent } from './mock-replies.ts';
import { MockTokens, type MockViewer } from './mock-tokens.ts';

export interface MockOptions extends Partial<MockTime> {
  readonly streamId?: string | undefined;
  /** What quizzes are open longer for viewers whose picture comes late, ms; 0 by default. */
  readonly latencyAllowanceMs?: number | undefined;
}

/** What goes wrong with requests. */
export interface MockFault {
  /** Which requests: all, if it does not say. */
  readonly when?: ((call: { method: string; path: string }) => boolean) | undefined;
  /** A status; `cut`: the connection breaks; `silence`: no answer comes at all. */
  readonly how: number | 'cut' | 'silence';
  /** With a status: the service's wish, s. */
  readonly retryAfterS?: number | undefined;
}

/** A request, taken apart. */
interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signal: AbortSignal | null;
  readonly origin: string;
}

type Answer = Response | Promise<Response>;

const STREAM_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const PRODUCER_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
/** The feed tells counts of 0 to those who read it in this time. */
const READ_INTERVALS = 2_000 / INTERVAL_MS;
/** Nobody moderates here. */
const UNTOUCHED_CHAT = { slow_mode_ms: 0, paused: false, pinned: null, hidden: [] };

/** The viewers' part of a service with one stream, in memory: for tests of apps. */
export function mockService(options: MockOptions = {}): MockService {
  return new MockService(options);
}

export class MockService {
  readonly streamId: string;
  readonly #time: MockTime;
  readonly #tokens: MockTokens;
  readonly #audience = new MockAudience();
  readonly #chat = new MockChat();
  readonly #quizzes: MockQuizzes;
  readonly #feed: MockFeed;
  readonly #faults = new Set<MockFault>();
  /** Events that are not in an interval yet. */
  #outbox: StreamEvent[] = [];
  #status: Stream['status'] = 'STREAMING';
  #readIn = Number.NEGATIVE_INFINITY;

  constructor({ streamId = STREAM_ID, latencyAllowanceMs = 0, now, after }: MockOptions) {
    const machine = realEnvironment();
    this.streamId = streamId;
    this.#time = { now: now ?? machine.systemMs, after: after ?? machine.after };
    this.#tokens = new MockTokens(streamId);
    this.#quizzes = new MockQuizzes(streamId, latencyAllowanceMs);
    this.#feed = new MockFeed(this.#time, (interval) => this.#eventsOf(interval));
  }

  /** Answers requests of the interface, whatever their host: `environment: { fetch }` of `join`. */
  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams: query, origin } = new URL(url);
    const path = pathname.slice(pathname.indexOf('/api/v1/')).replace(/\/$/, '');
    const { method = 'GET', body = null, signal = null } = init;
    signal?.throwIfAborted();
    this.#feed.seal();
    const headers = new Headers(init.headers);
    const call: Call = { method, path, query, headers, body, signal, origin };
    try {
      return (await this.#faulty(call)) ?? (await this.#answer(call));
    } catch (error) {
      if (error instanceof MockProblem) return error.response();
      throw error;
    }
  };

  /** Puts an event of the producer's own into the feed. */
  publish(type: string, data: object | null = null): void {
    this.#feed.seal();
    this.#outbox.push({ type, data });
  }

  /** Somebody else writes a line; a `purchase` comes from the producer. */
  say(kind: ChatKind | 'purchase', text: string, name = ''): void {
    this.#feed.seal();
    const viewer = kind === 'purchase' ? '' : 'somebody';
    this.#chat.add(kind, { viewer, name, text, at: this.#time.now() });
  }

  /** Others send hearts. */
  hearts(count = 1): void {
    this.#feed.seal();
    this.#chat.hearts(count);
  }

  discounts(count = 1): void {
    this.#feed.seal();
    this.#chat.discounts(count);
  }

  /** So many others are watching. */
  setOthers(viewers: number): void {
    this.#feed.seal();
    this.#audience.others = viewers;
  }

  /** Asks a quiz. It closes by itself. */
  openQuiz(quiz: NewQuiz): Quiz {
    this.#feed.seal();
    const asked = this.#quizzes.open(quiz, this.#time.now());
    this.#outbox.push({ type: 'quiz', data: asked });
    return asked;
  }

  /** Tells the results of a quiz with `reveal: 'manual'`. @throws Error while it is open */
  reveal(quizId: string): void {
    this.#feed.seal();
    const results = this.#quizzes.reveal(quizId);
    if (results) this.#outbox.push({ type: 'quiz-results', data: results });
  }

  /** What viewers answered, by their `viewerId`. */
  answersTo(quizId: string): ReadonlyMap<string, string> {
    return this.#quizzes.answersTo(quizId);
  }

  /** Who has won the last round, by their `viewerId`. */
  get winners(): ReadonlySet<string> {
    return this.#quizzes.winners;
  }

  /** Asks who answered everything correctly since the last time. @throws Error while a quiz is open */
  requestWinners(): void {
    this.#feed.seal();
    this.#quizzes.requestWinners();
    this.#outbox.push({ type: 'request-quiz-winners', data: null });
  }

  /** `CREATED`, `STREAMING` (from the start) or `ENDED`. */
  setStatus(status: Stream['status']): void {
    this.#status = status;
  }

  /** From now on something goes wrong. @returns what ends it */
  fail(fault: MockFault): () => void {
    this.#faults.add(fault);
    return () => this.#faults.delete(fault);
  }

  /** Breaks the event streams that are open. */
  cutStreams(): void {
    this.#feed.cutStreams();
  }

  /** Ends the event streams that are open, as a node does that stops (SPEC F-25). */
  endStreams(): void {
    this.#feed.endStreams();
  }

  /** Every token that was given is refused from now on; new ones are good. */
  refuseTokens(): void {
    this.#tokens.refuseAll();
  }

  #eventsOf(interval: number): StreamEvent[] {
    const isRead = this.#feed.hasReaders || this.#readIn + READ_INTERVALS >= interval;
    const count = this.#audience.told(interval, isRead);
    const chats = this.#chat.take();
    const durable = this.#outbox;
    this.#outbox = [];
    for (const { type, data } of durable) {
      if (type === 'request-quiz-winners') this.#quizzes.requestedIn(interval);
      if (type === 'quiz') this.#quizzes.toldIn((data as Quiz).id, interval);
    }
    return [
      ...(count ? [{ type: 'view-count', data: count }] : []),
      ...(chats ? [{ type: 'chats', data: chats }] : []),
      ...durable,
      ...this.#quizzes.due(interval),
    ];
  }

  async #faulty({ method, path, signal }: Call): Promise<Response | null> {
    const fault = [...this.#faults].find(({ when }) => !when || when({ method, path }));
    if (!fault) return null;
    const { how, retryAfterS } = fault;
    if (how === 'cut') throw new TypeError('The connection broke.');
    if (how === 'silence') {
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    const headers = retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) };
    return new MockProblem(how, 'The mock was told to fail.').response(headers);
  }

  #answer(call: Call): Answer {
    const [, , , area = '', first = '', second = ''] = call.path.split('/');
    const route = this.#routes[[area, second].filter(Boolean).join('/')];
    const answer = route?.[call.method];
    if (answer) return answer(call, decodeURIComponent(first));
    throw new MockProblem(route ? 405 : 404, `There is no ${call.method} ${call.path}.`);
  }

  /** By path, without the id in it, and method. */
  readonly #routes: Record<string, Record<string, (call: Call, id: string) => Answer>> = {
    time: {
      GET: () => {
        const now = this.#time.now();
        return json({ now, interval: intervalAt(now) });
      },
    },
    streams: { GET: (call, id) => json(this.#detail(call, id)) },
    token: {
      POST: ({ headers, body }) =>
        json({ token: this.#tokens.issue(bodyOf(headers, body), this.#time.now()) }),
    },
    'view-counts': {
      GET: (call, id) => {
        this.#viewer(call, id);
        return json(this.#audience.countAt(intervalAt(this.#time.now())));
      },
      POST: (call, id) => {
        this.#audience.register(this.#viewer(call, id).id, intervalAt(this.#time.now()));
        return noContent();
      },
    },
    'quizzes/answer': {
      POST: (call, id) => {
        const viewer = this.#viewer(call, this.streamId);
        this.#quizzes.answer(viewer, id, bodyOf(call.headers, call.body), this.#time.now());
        return noContent();
      },
    },
    'quizzes/record-winner': {
      POST: (call, id) => {
        this.#quizzes.recordWinner(this.#viewer(call, id));
        return noContent();
      },
    },
    'events-streams': { GET: (call, id) => this.#read(call, this.#viewer(call, id)) },
    'events-streams/chats': {
      POST: (call, id) => {
        const viewer = this.#viewer(call, id);
        this.#chat.post(bodyOf(call.headers, call.body), viewer.id, this.#time.now());
        return noContent();
      },
    },
  };

  #read({ query, headers, signal }: Call, viewer: MockViewer): Answer {
    const interval = this.#feed.intervalOf(query.get('interval'));
    this.#readIn = intervalAt(this.#time.now());
    const isStream = headers.get('accept')?.includes('text/event-stream');
    if (isStream) return this.#feed.stream(interval, viewer.expiresMs, signal);
    return this.#feed.read(interval, signal);
  }

  /** Viewers of the stream are told of the quiz that is open. @throws MockProblem 401 or 404 */
  #detail(
    call: Call,
    id: string,
  ): Stream & { quiz_interval?: number | null; chat?: typeof UNTOUCHED_CHAT } {
    const isViewer = /^bearer /i.test(call.headers.get('authorization') ?? '');
    if (isViewer) this.#viewer(call, id);
    const stream = this.#stream(call.origin, id);
    if (!isViewer) return stream;
    const quiz_interval = this.#quizzes.openAt(intervalAt(this.#time.now()));
    return { ...stream, quiz_interval, chat: UNTOUCHED_CHAT };
  }

  #stream(origin: string, id: string): Stream {
    if (id !== this.streamId) throw new MockProblem(404, 'There is no such stream.');
    const media = `${origin}/media/${id}`;
    return {
      id,
      producer: PRODUCER_ID,
      dash_url: `${media}/manifest.mpd`,
      hls_url: `${media}/master.m3u8`,
      status: this.#status,
    };
  }

  /** Whose call it is. @throws MockProblem 401, for another stream too */
  #viewer({ headers }: Call, streamId: string): MockViewer {
    const viewer = this.#tokens.viewerOf(headers.get('authorization'), this.#time.now());
    if (streamId === this.streamId) return viewer;
    throw new MockProblem(401, 'The viewer token is of another stream.');
  }
}
