import { INTERVAL_MS, intervalAt } from '../../protocol/interval.ts';
import { realEnvironment } from '../environment.ts';
import type { ChatKind, Product, Quiz, Stream, StreamEvent } from '../types.ts';
import { MockAudience } from './mock-audience.ts';
import { MockChat } from './mock-chat.ts';
import { type MockClock, MockFeed } from './mock-feed.ts';
import { MockQuizzes, type NewQuiz } from './mock-quizzes.ts';
import { bodyOf, json, MockProblem } from './mock-replies.ts';
import { MockTokens, type MockViewer } from './mock-tokens.ts';

export interface MockOptions extends Partial<MockClock> {
  readonly streamId?: string | undefined;
  /** Time that quizzes stay open after their duration, for viewers with late video, ms; default 0. */
  readonly latencyAllowanceMs?: number | undefined;
}

/** A fault of the service. */
export interface MockFault {
  /** Selects requests; default: all. */
  readonly matches?: ((call: { method: string; path: string }) => boolean) | undefined;
  /** An HTTP status; `cut`: the connection breaks; `silence`: no response. */
  readonly result: number | 'cut' | 'silence';
  /** `Retry-After` of the response, s; only with a status. */
  readonly retryAfterSeconds?: number | undefined;
}

interface MockRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signal: AbortSignal | null;
  readonly origin: string;
}

/** Handles a request. @returns a response, or a promise of one; anything else becomes a 204 */
type MockHandler = (call: MockRequest, id: string) => unknown;

const STREAM_ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const PRODUCER_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
/** A view count of 0 is published while somebody has read the feed within this time. */
const READER_INTERVALS = 2_000 / INTERVAL_MS;
/** State of a chat without moderation. */
const UNTOUCHED_CHAT = { slow_mode_ms: 0, paused: false, pinned: null, hidden: [] };

/** A code in the format of the service. */
const winnerCode = ({ seat }: MockViewer) => `MOKA-${2_222 + Number(seat.toString(8))}`;

/** Creates the viewer API of a service with one stream, in memory, for tests of apps. */
export function mockService(options: MockOptions = {}): MockService {
  return new MockService(options);
}

/** The viewer API of a service with one stream, in memory. */
export class MockService {
  readonly streamId: string;
  readonly #clock: MockClock;
  readonly #tokens: MockTokens;
  readonly #audience = new MockAudience();
  readonly #chat = new MockChat();
  readonly #quizzes: MockQuizzes;
  readonly #feed: MockFeed;
  readonly #faults = new Set<MockFault>();
  /** Events for the current interval. */
  #outbox: StreamEvent[] = [];
  #status: Stream['status'] = 'STREAMING';
  #product: Product | null = null;
  #lastReadInterval = Number.NEGATIVE_INFINITY;

  constructor({ streamId = STREAM_ID, latencyAllowanceMs = 0, now, after }: MockOptions) {
    const machine = realEnvironment();
    this.streamId = streamId;
    this.#clock = { now: now ?? machine.systemMs, after: after ?? machine.after };
    this.#tokens = new MockTokens(streamId);
    this.#quizzes = new MockQuizzes(streamId, latencyAllowanceMs);
    this.#feed = new MockFeed(this.#clock, (interval) => this.#eventsOf(interval));
  }

  /** Answers requests to the interface, whatever their host; pass it to `join` as `environment.fetch`. */
  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams: query, origin } = new URL(url);
    const path = pathname.slice(pathname.indexOf('/api/v1/')).replace(/\/$/, '');
    const { method = 'GET', body = null, signal = null } = init;
    signal?.throwIfAborted();
    this.#feed.seal();
    const headers = new Headers(init.headers);
    const call: MockRequest = { method, path, query, headers, body, signal, origin };
    try {
      return (await this.#applyFault(call)) ?? (await this.#route(call));
    } catch (error) {
      if (error instanceof MockProblem) return error.response();
      throw error;
    }
  };

  /** Publishes an event of the producer. */
  publish(type: string, data: object | null = null): void {
    this.#feed.seal();
    this.#outbox.push({ type, data });
  }

  /** Shows a product in place of another one; null hides it. */
  showProduct(product: Product | null): void {
    this.publish('product', product);
    this.#product = product;
  }

  /** Writes to the chat as another viewer; a `purchase` is the producer's. */
  sendMessage(kind: ChatKind | 'purchase', text: string, name = ''): void {
    this.#feed.seal();
    const viewer = kind === 'purchase' ? '' : 'somebody';
    this.#chat.add(kind, { viewer, name, text, at: this.#clock.now() });
  }

  /** Sends hearts as other viewers. */
  sendHearts(count = 1): void {
    this.#feed.seal();
    this.#chat.addHearts(count);
  }

  /** Publishes discounts of the producer. */
  sendDiscounts(count = 1): void {
    this.#feed.seal();
    this.#chat.addDiscounts(count);
  }

  /** Sets the number of other viewers. */
  setOtherViewers(viewers: number): void {
    this.#feed.seal();
    this.#audience.others = viewers;
  }

  /** Publishes a quiz. It closes by itself. */
  openQuiz(quiz: NewQuiz): Quiz {
    this.#feed.seal();
    const opened = this.#quizzes.open(quiz, this.#clock.now());
    this.#outbox.push({ type: 'quiz', data: opened });
    return opened;
  }

  /** Publishes the results of a quiz with `reveal: 'manual'`. @throws Error while it is open */
  reveal(quizId: string): void {
    this.#feed.seal();
    const results = this.#quizzes.reveal(quizId);
    if (results) this.#outbox.push({ type: 'quiz-results', data: results });
  }

  /** Choices that the service counts, by `viewerId`. */
  answersTo(quizId: string): ReadonlyMap<string, string> {
    return this.#quizzes.answersTo(quizId);
  }

  /** `viewerId`s of the winners of the last round. */
  get winners(): ReadonlySet<string> {
    return this.#quizzes.winners;
  }

  /** Starts a round for the quizzes since the last one. @throws Error while a quiz is open */
  requestWinners(): void {
    this.#feed.seal();
    this.#quizzes.requestWinners();
    this.#outbox.push({ type: 'request-quiz-winners', data: null });
  }

  /** Sets the status of the stream; initially `STREAMING`. */
  setStatus(status: Stream['status']): void {
    this.#status = status;
  }

  /** Injects a fault. @returns a function that removes it */
  fail(fault: MockFault): () => void {
    this.#faults.add(fault);
    return () => this.#faults.delete(fault);
  }

  /** Breaks all open event streams. */
  breakStreams(): void {
    this.#feed.breakStreams();
  }

  /** Ends all open event streams, as a node that shuts down does (SPEC F-25). */
  endStreams(): void {
    this.#feed.endStreams();
  }

  /** Rejects all tokens issued so far; new ones are valid. */
  rejectTokens(): void {
    this.#tokens.rejectAll();
  }

  #eventsOf(interval: number): StreamEvent[] {
    const isRead = this.#feed.hasReaders || this.#lastReadInterval + READER_INTERVALS >= interval;
    const count = this.#audience.countDueIn(interval, isRead);
    const chats = this.#chat.take();
    const durable = this.#outbox;
    this.#outbox = [];
    for (const { type, data } of durable) {
      if (type === 'request-quiz-winners') this.#quizzes.setRequestInterval(interval);
      if (type === 'quiz') this.#quizzes.setQuizInterval((data as Quiz).id, interval);
    }
    return [
      ...(count ? [{ type: 'view-count', data: count }] : []),
      ...(chats ? [{ type: 'chats', data: chats }] : []),
      ...durable,
      ...this.#quizzes.eventsDueIn(interval),
    ];
  }

  async #applyFault({ method, path, signal }: MockRequest): Promise<Response | null> {
    const fault = [...this.#faults].find(({ matches }) => !matches || matches({ method, path }));
    if (!fault) return null;
    const { result, retryAfterSeconds } = fault;
    if (result === 'cut') throw new TypeError('The connection broke.');
    if (result === 'silence') {
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    const headers =
      retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
    return new MockProblem(result, 'A fault was injected into the mock.').response(headers);
  }

  async #route(call: MockRequest): Promise<Response> {
    const [, , , area = '', first = '', second = ''] = call.path.split('/');
    const route = this.#routes[[area, second].filter(Boolean).join('/')];
    const handle = route?.[call.method];
    if (!handle)
      throw new MockProblem(route ? 405 : 404, `There is no ${call.method} ${call.path}.`);
    const response = await handle(call, decodeURIComponent(first));
    return response instanceof Response ? response : new Response(null, { status: 204 });
  }

  get #interval(): number {
    return intervalAt(this.#clock.now());
  }

  /** Handlers by path (without its id) and method. */
  readonly #routes: Record<string, Record<string, MockHandler>> = {
    time: {
      GET: () => {
        const now = this.#clock.now();
        return json({ now, interval: intervalAt(now) });
      },
    },
    streams: { GET: (call, id) => json(this.#streamDetail(call, id)) },
    token: {
      POST: ({ headers, body }) =>
        json({ token: this.#tokens.issue(bodyOf(headers, body), this.#clock.now()) }),
    },
    'view-counts': {
      GET: (call, id) => {
        this.#viewer(call, id);
        return json(this.#audience.countAt(this.#interval));
      },
      POST: (call, id) => this.#audience.register(this.#viewer(call, id).id, this.#interval),
    },
    'quizzes/answer': {
      POST: (call, id) => {
        const viewer = this.#viewer(call, this.streamId);
        this.#quizzes.answer(viewer, id, bodyOf(call.headers, call.body), this.#clock.now());
      },
    },
    'quizzes/record-winner': {
      POST: (call, id) => this.#quizzes.recordWinner(this.#viewer(call, id), this.#clock.now()),
    },
    'events-streams': { GET: (call, id) => this.#readFeed(call, this.#viewer(call, id)) },
    'events-streams/chats': {
      POST: (call, id) => {
        const viewer = this.#viewer(call, id);
        this.#chat.post(bodyOf(call.headers, call.body), viewer.id, this.#clock.now());
      },
    },
  };

  #readFeed({ query, headers, signal }: MockRequest, viewer: MockViewer) {
    const interval = this.#feed.parseInterval(query.get('interval'));
    this.#lastReadInterval = this.#interval;
    const isStream = headers.get('accept')?.includes('text/event-stream');
    if (isStream) return this.#feed.stream(interval, viewer.expiresMs, signal);
    return this.#feed.read(interval, signal);
  }

  /** With a viewer's token it includes the open quiz and the chat. @throws MockProblem 401 or 404 */
  #streamDetail(call: MockRequest, id: string): Stream {
    const isViewer = /^bearer /i.test(call.headers.get('authorization') ?? '');
    const viewer = isViewer ? this.#viewer(call, id) : null;
    if (id !== this.streamId) throw new MockProblem(404, 'There is no such stream.');
    const media = `${call.origin}/media/${id}`;
    const stream: Stream = {
      id,
      producer: PRODUCER_ID,
      dash_url: `${media}/manifest.mpd`,
      hls_url: `${media}/master.m3u8`,
      status: this.#status,
    };
    if (!viewer) return stream;
    const quiz_interval = this.#quizzes.openQuizInterval(this.#interval);
    return Object.assign(stream, {
      quiz_interval,
      winner_code: winnerCode(viewer),
      product: this.#product,
      chat: { ...UNTOUCHED_CHAT, recent: this.#chat.recent },
    });
  }

  /** Authenticates a request. @throws MockProblem 401, also for a token of another stream */
  #viewer({ headers }: MockRequest, streamId: string): MockViewer {
    const viewer = this.#tokens.viewerOf(headers.get('authorization'), this.#clock.now());
    if (streamId === this.streamId) return viewer;
    throw new MockProblem(401, 'The viewer token is of another stream.');
  }
}
