import { intervalAt, parseInterval } from '../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../protocol/limits.ts';
import { admissionOf } from '../auth/viewer-tokens/checked-viewers.ts';
import type { ViewerWithToken } from '../auth/viewer-tokens/viewer-tokens.ts';
import type { Connection, PendingResponse } from './connection.ts';
import { ErrorResponses } from './error-responses.ts';
import { EventStreamResponse, LongPoll, type LongPollContext } from './feed-responses.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { QuizFastPath } from './quiz-fast-path.ts';
import { guessResource } from './request-classifier.ts';
import {
  FALLBACK,
  HEAD_BYTES_MAX,
  isTokenText,
  parseViewerRequest,
  type ViewerRequest,
} from './request-parser.ts';
import { type RequestTemplate, TemplateCache, type TemplateMatch } from './request-template.ts';
import { ChunkEncoder, type ResponseBytes } from './response-bytes.ts';

/** The token of the request is being verified. */
const VERIFYING: PendingResponse = { onClose: () => {} };

/**
 * Responds to heartbeats and feed reads of viewers who are admitted to the stream, also with a 503 when
 * the service is unavailable. Everything else, other errors included, falls through to the origin server.
 */
export class ViewerFastPath {
  private readonly templates = new TemplateCache();
  private readonly match: TemplateMatch = { interval: 0, tokenAt: 0, tokenEnd: 0 };
  private readonly encoder = new ChunkEncoder();
  private readonly quizzes: QuizFastPath | null;
  private readonly errorResponses: ErrorResponses;
  private readonly longPolls: LongPollContext | null;

  constructor(
    private readonly backend: GatewayBackend,
    private readonly responses: ResponseBytes,
  ) {
    const { feed } = backend;
    this.errorResponses = new ErrorResponses(responses);
    this.longPolls = feed && { responses, feed, errorResponses: this.errorResponses };
    this.quizzes = backend.quizzes && new QuizFastPath(backend, backend.quizzes, responses);
  }

  /** See `RequestHandler.handle`. */
  handle(connection: Connection, bytes: Buffer, at: number): number {
    const resource = guessResource(bytes, at);
    if (resource === 'quiz' && this.quizzes) return this.quizzes.handle(connection, bytes, at);
    const { match } = this;
    const template = resource === 'heartbeat' ? connection.heartbeat : connection.feed;
    if (typeof template === 'object' && template.matches(bytes, at, match)) {
      const viewer = this.backend.tokens.cache.find(bytes, match.tokenAt, match.tokenEnd);
      if (viewer) {
        const nowMs = this.backend.clock.nowMs();
        const isHandled =
          this.isAdmitted(viewer, template, nowMs) &&
          this.respond(connection, template, viewer, match.interval, null, nowMs);
        return isHandled ? bytes.length : FALLBACK;
      }
    }
    return this.parse(connection, bytes, at);
  }

  private parse(connection: Connection, bytes: Buffer, at: number): number {
    const request = parseViewerRequest(bytes, at);
    if (typeof request === 'number') return request;
    const { tokens } = this.backend;
    const viewer = tokens.cache.get(request.token);
    if (viewer) return this.respondToParsed(connection, request, viewer) ? request.end : FALLBACK;
    if (!isTokenText(request.token)) return FALLBACK;
    const sent = bytes.subarray(at, request.end);
    connection.setPending(VERIFYING);
    tokens.check(request.token).then(
      (verified) => {
        if (connection.isEnded) return;
        if (!verified || !this.respondToParsed(connection, request, verified)) {
          connection.relay(sent);
        }
      },
      (error) => {
        if (connection.isEnded) return;
        if (!this.sendError(connection, request.template, error)) connection.relay(sent);
      },
    );
    return request.end;
  }

  private isAdmitted(viewer: ViewerWithToken, template: RequestTemplate, nowMs: number): boolean {
    return admissionOf(viewer, template.streamId, nowMs, this.backend.bans) === 'admitted';
  }

  /** @returns false, like all methods below, when the request must go to the origin server */
  private respondToParsed(
    connection: Connection,
    request: ViewerRequest,
    viewer: ViewerWithToken,
  ): boolean {
    const { template, interval, lastEventId } = request;
    const nowMs = this.backend.clock.nowMs();
    if (!this.isAdmitted(viewer, template, nowMs)) return false;
    // A last event id differs from request to request, so these make no templates.
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
    const newest = intervalAt(nowMs) + AHEAD_INTERVALS;
    if (template.path === 'feed-read') {
      return interval <= newest && this.readInterval(connection, template, viewer, interval);
    }
    const from = lastEventId === null ? interval : parseInterval(lastEventId) + 1;
    return from <= newest && this.openStream(connection, template, viewer, from);
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

  private readInterval(
    connection: Connection,
    template: RequestTemplate,
    viewer: ViewerWithToken,
    interval: number,
  ): boolean {
    const { longPolls } = this;
    const { feed } = this.backend;
    if (!feed || !longPolls) return false;
    const { log, counter } = feed;
    const { streamId } = viewer;
    const createLongPoll = () => {
      // The receive buffer may hold 512 KB of pipelined data; copy the head so that it can be freed.
      const own = template.memoryBytes > HEAD_BYTES_MAX ? template.compact() : template;
      return new LongPoll(connection, longPolls, own, viewer.token, interval);
    };
    try {
      if (interval > log.watermark()) {
        const longPoll = createLongPoll();
        log.waitFor(streamId, interval, longPoll);
        connection.setPending(longPoll);
        return true;
      }
      const body = log.read(streamId, interval);
      if (body instanceof Promise) {
        const longPoll = createLongPoll();
        connection.setPending(longPoll);
        body.then(
          (found) => longPoll.onSealed(found),
          (error) => longPoll.onFailed(error),
        );
        return true;
      }
      counter.countImmediate(200);
      connection.respond(this.responses.sealed(interval, body));
      return true;
    } catch (error) {
      return this.sendError(connection, template, error);
    }
  }

  private openStream(
    connection: Connection,
    template: RequestTemplate,
    viewer: ViewerWithToken,
    from: number,
  ): boolean {
    const { feed } = this.backend;
    if (!feed) return false;
    const { streamId } = viewer;
    const { log, streams, counter } = feed;
    let response: EventStreamResponse | null = null;
    try {
      streams.open(viewer, (onEnd) => {
        response = new EventStreamResponse(connection, this.encoder, {
          log,
          streamId,
          from,
          onEnd,
        });
        return response.stream;
      });
    } catch (error) {
      return this.sendError(connection, template, error);
    }
    counter.countImmediate(200);
    (response as EventStreamResponse | null)?.start(this.responses.opening());
    return true;
  }

  private sendError(connection: Connection, template: RequestTemplate, error: unknown): boolean {
    const { heartbeats, feed } = this.backend;
    const operation = template.path === 'heartbeat' ? heartbeats : feed;
    return operation !== null && this.errorResponses.send(connection, template, operation, error);
  }
}
