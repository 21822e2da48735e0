import { intervalAt, parseInterval } from '../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../protocol/limits.ts';
import { admissionOf, type ViewerWithToken } from '../auth/viewer-tokens/checked-viewers.ts';
import type { OutcomeCallbacks } from '../domains/quizzes/answer-service.ts';
import { runtime } from '../platform/runtime.ts';
import type { Connection, PendingResponse, RequestHandler } from './connection.ts';
import { ErrorResponses } from './error-responses.ts';
import { FeedFastPath } from './feed-fast-path.ts';
import type { ErrorPreferences, GatewayBackend, QuizOperation } from './gateway-backend.ts';
import {
  bytesOf,
  FALLBACK,
  FIELD,
  type HeaderLines,
  type NEED_MORE,
  readHead,
  relayWhenComplete,
  UUID_CHARS,
} from './request-head.ts';
import type { ResponseBytes } from './response-bytes.ts';
import {
  isTokenText,
  parseViewerRequest,
  type RequestTemplate,
  TemplateCache,
  type TemplateMatch,
  type ViewerRequest,
} from './viewer-request.ts';

/** The token of the request is being verified. */
const VERIFYING: PendingResponse = { onClose: () => {} };

/** The offset of the first byte in which the paths that take a `POST` differ. */
const RESOURCE_AT = 'POST /api/v1/'.length;
const LETTER_P = 0x50;
const LETTER_Q = 0x71;

/**
 * Responds to heartbeats and feed reads of viewers who are admitted to the stream, also with a 503 when
 * the service is unavailable, and takes answers and winner reports of admitted viewers whose token is
 * cached. Everything else, other errors and rejected answers included, falls through to the origin server.
 */
export class ViewerFastPath implements RequestHandler {
  private readonly templates = new TemplateCache();
  private readonly match: TemplateMatch = { interval: 0, tokenAt: 0, tokenEnd: 0 };
  private readonly errorResponses: ErrorResponses;
  private readonly feed: FeedFastPath | null;

  constructor(
    private readonly backend: GatewayBackend,
    private readonly responses: ResponseBytes,
  ) {
    const { feed } = backend;
    this.errorResponses = new ErrorResponses(responses);
    this.feed = feed && new FeedFastPath(feed, responses, this.errorResponses);
  }

  /**
   * Two bytes select the fast path. Then the template or the parser checks all bytes: a comparison of the
   * whole path before that would cost as much as the rest of a heartbeat.
   */
  handle(connection: Connection, bytes: Buffer, at: number, checkedEnd: number): number {
    if (bytes[at + RESOURCE_AT] === LETTER_Q) {
      return this.handleQuiz(connection, bytes, at, checkedEnd);
    }
    const { match } = this;
    const template = bytes[at] === LETTER_P ? connection.heartbeat : connection.feed;
    if (typeof template === 'object' && template.matches(bytes, at, match)) {
      const viewer = this.backend.tokens.cache.find(bytes, match.tokenAt, match.tokenEnd);
      if (viewer) {
        const nowMs = this.backend.clock.nowMs();
        const isHandled =
          this.isAdmitted(viewer, template.streamId, nowMs) &&
          this.respond(connection, template, viewer, match.interval, null, nowMs);
        return isHandled ? bytes.length : FALLBACK;
      }
    }
    return this.parse(connection, bytes, at, checkedEnd);
  }

  private parse(connection: Connection, bytes: Buffer, at: number, checkedEnd: number): number {
    const request = parseViewerRequest(bytes, at, checkedEnd);
    if (typeof request === 'number') return request;
    const { tokens } = this.backend;
    const viewer = tokens.cache.get(request.token);
    if (viewer) return this.respondToParsed(connection, request, viewer) ? request.end : FALLBACK;
    if (!isTokenText(request.token)) return FALLBACK;
    const requestBytes = bytes.subarray(at, request.end);
    connection.setPending(VERIFYING);
    tokens.check(request.token).then(
      (verified) => {
        if (connection.isEnded) return;
        if (!verified || !this.respondToParsed(connection, request, verified)) {
          connection.relay(requestBytes);
        }
      },
      (error) => {
        if (connection.isEnded) return;
        if (!this.sendError(connection, request.template, error)) connection.relay(requestBytes);
      },
    );
    return request.end;
  }

  /** @param streamId null: the path names a quiz, and the answer service checks its stream */
  private isAdmitted(viewer: ViewerWithToken, streamId: string | null, nowMs: number): boolean {
    return admissionOf(viewer, streamId, nowMs, this.backend.bans) === 'admitted';
  }

  /** @returns false, like all methods below, when the request must go to the origin server */
  private respondToParsed(
    connection: Connection,
    request: ViewerRequest,
    viewer: ViewerWithToken,
  ): boolean {
    const { template, interval, lastEventId } = request;
    const nowMs = this.backend.clock.nowMs();
    if (!this.isAdmitted(viewer, template.streamId, nowMs)) return false;
    // Requests with a last event id make no templates, because the id differs in each of them.
    if (lastEventId === null) {
      const { templates } = this;
      if (template.path === 'heartbeat') {
        connection.heartbeat = templates.next(connection.heartbeat, template);
      } else connection.feed = templates.next(connection.feed, template);
    }
    return this.respond(connection, template, viewer, interval, lastEventId, nowMs);
  }

  /** Responds to the request of an admitted viewer. */
  private respond(
    connection: Connection,
    template: RequestTemplate,
    viewer: ViewerWithToken,
    interval: number,
    lastEventId: string | null,
    nowMs: number,
  ): boolean {
    if (template.path === 'heartbeat') return this.register(connection, template, viewer, nowMs);
    const { feed } = this;
    if (!feed) return false;
    const newest = intervalAt(nowMs) + AHEAD_INTERVALS;
    if (template.path === 'feed-read') {
      return interval <= newest && feed.readInterval(connection, template, viewer, interval);
    }
    const from = lastEventId === null ? interval : parseInterval(lastEventId) + 1;
    return from <= newest && feed.openStream(connection, template, viewer, from);
  }

  private register(
    connection: Connection,
    template: RequestTemplate,
    { streamId, seat }: ViewerWithToken,
    nowMs: number,
  ): boolean {
    const { heartbeats } = this.backend;
    if (!heartbeats) return false;
    try {
      heartbeats.presence.register(streamId, seat, nowMs);
    } catch (error) {
      return this.sendError(connection, template, error);
    }
    heartbeats.counter.countImmediate(204);
    connection.respond(this.responses.noContent(heartbeats.allow));
    return true;
  }

  private sendError(connection: Connection, template: RequestTemplate, error: unknown): boolean {
    const { heartbeats, feed } = this.backend;
    const operation = template.path === 'heartbeat' ? heartbeats : feed;
    return operation !== null && this.errorResponses.send(connection, template, operation, error);
  }

  private handleQuiz(
    connection: Connection,
    bytes: Buffer,
    at: number,
    checkedEnd: number,
  ): number {
    const { quizzes, clock, tokens } = this.backend;
    if (!quizzes) return relayWhenComplete(bytes, at, checkedEnd);
    const request = parseQuizRequest(bytes, at, checkedEnd);
    if (typeof request === 'number') return request;
    const nowMs = clock.nowMs();
    const { idAt, tokenAt, tokenEnd, preferences } = request;
    const viewer = tokens.cache.find(bytes, tokenAt, tokenEnd);
    if (!viewer) return FALLBACK;
    const isAnswer = request.path === 'quiz-answer';
    const streamId = isAnswer ? null : bytes.toString('latin1', idAt, idAt + UUID_CHARS);
    if (!this.isAdmitted(viewer, streamId, nowMs)) return FALLBACK;
    const { service, answers, winnersReports } = quizzes;
    const operation = isAnswer ? answers : winnersReports;
    const response = new QuizResponse(connection, this.responses, operation, preferences);
    const isTaken = isAnswer
      ? service.tryAnswer(viewer, bytes, request, nowMs, response)
      : service.tryClaim(viewer, response);
    if (!isTaken) return FALLBACK;
    connection.setPending(response);
    return request.end;
  }
}

/** The response to an answer or a winner report that waits for the database. */
class QuizResponse implements PendingResponse, OutcomeCallbacks {
  private readonly startedMs = runtime.monotonicMs();

  constructor(
    private readonly connection: Connection,
    private readonly responses: ResponseBytes,
    private readonly operation: QuizOperation,
    private readonly preferences: ErrorPreferences,
  ) {}

  accept(): void {
    const { allow, counter } = this.operation;
    counter.count(204, this.startedMs);
    this.connection.respond(this.responses.noContent(allow));
  }

  /** Responds with the error here: the origin server would submit the request a second time. */
  refuse(error: unknown): void {
    const response = this.operation.errorResponse(error, this.preferences);
    this.operation.counter.count(response.status, this.startedMs);
    response.text().then((body) => this.connection.respond(this.responses.encode(response, body)));
  }

  /** The answer or winner report is stored even when its client disconnects. */
  onClose(): void {}
}

/** A complete request with an answer to a quiz or a report of a winner, as offsets in the bytes. */
export interface QuizRequest {
  readonly path: 'quiz-answer' | 'winners-report';
  /** The offset of the UUID of the quiz that is answered, or of the stream of the winner. */
  readonly idAt: number;
  /** The range of the token, which is not verified. */
  readonly tokenAt: number;
  readonly tokenEnd: number;
  readonly bodyAt: number;
  /** The offset after the body, where the next request begins. */
  readonly end: number;
  readonly preferences: ErrorPreferences;
}

const JSON_TYPE = bytesOf('application/json');
const JSON_WITH_CHARSET = /^application\/json(?:; ?charset=utf-8)?$/i;
const LENGTH_DIGITS_MAX = 4;
const ZERO = 0x30;
const NO_PREFERENCES: ErrorPreferences = {};

/**
 * Parses the answer or winner report that begins at an offset, as strictly as `parseViewerRequest`. A
 * request whose body is incomplete goes to the origin server, which has the timeout for it.
 * @param checkedEnd see `RequestHandler.handle`
 */
export function parseQuizRequest(
  bytes: Buffer,
  at: number,
  checkedEnd = 0,
): QuizRequest | typeof NEED_MORE | typeof FALLBACK {
  const head = readHead(bytes, at, checkedEnd);
  if (typeof head === 'number') return head;
  const { line, fields, tokenAt, tokenEnd, end: bodyAt } = head;
  const { path, idAt } = line;
  if (path === 'heartbeat' || path === 'feed' || fields.has(FIELD['content-encoding'])) {
    return FALLBACK;
  }
  const bodyBytes =
    path === 'quiz-answer' ? jsonBytes(fields, bytes) : head.hasNoBody(bytes) ? 0 : -1;
  const end = bodyAt + bodyBytes;
  if (bodyBytes < 0 || end > bytes.length) return FALLBACK;
  const preferences = errorPreferences(fields, bytes);
  return { path, idAt, tokenAt, tokenEnd, bodyAt, end, preferences };
}

/** The length of a JSON body; -1 when its type or length is missing or not in the expected form. */
function jsonBytes(fields: HeaderLines, bytes: Buffer): number {
  const type = FIELD['content-type'];
  const isJson =
    fields.is(bytes, type, JSON_TYPE) || JSON_WITH_CHARSET.test(fields.text(bytes, type) ?? '');
  return isJson && fields.has(FIELD['content-length']) ? contentLength(fields, bytes) : -1;
}

/** `Content-Length`; -1 when it is 0, not canonical, or has more than four digits. */
function contentLength(fields: HeaderLines, bytes: Buffer): number {
  const from = fields.startOf(FIELD['content-length']);
  const to = fields.endOf(FIELD['content-length']);
  if (to - from > LENGTH_DIGITS_MAX || bytes[from] === ZERO) return -1;
  let length = 0;
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}

function errorPreferences(fields: HeaderLines, bytes: Buffer): ErrorPreferences {
  const accept = fields.text(bytes, FIELD.accept);
  const requestId = fields.text(bytes, FIELD['x-request-id']);
  if (accept === null && requestId === null) return NO_PREFERENCES;
  return {
    ...(accept !== null && { accept }),
    ...(requestId !== null && { 'x-request-id': requestId }),
  };
}
