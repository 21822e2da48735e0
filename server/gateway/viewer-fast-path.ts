import { intervalAt, parseInterval } from '../../protocol/interval.ts';
import { AHEAD_INTERVALS } from '../../protocol/limits.ts';
import type { KnownViewer } from '../auth/viewer-tokens/viewer-tokens.ts';
import { type Connection, INCOMPLETE, RELAY } from './connection.ts';
import type { PendingResponse } from './connection-state.ts';
import { Refusals } from './error-responses.ts';
import { StreamTask } from './event-stream-response.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { type HeldReads, LongPoll } from './long-poll.ts';
import { QuizFastPath } from './quiz-fast-path.ts';
import {
  HEAD_BYTES_MAX,
  type HotRequest,
  isToken,
  OTHER,
  PARTIAL,
  readHead,
} from './request-head.ts';
import { type Match, type RequestTemplate, TemplateCache } from './request-template.ts';
import { type AnswerBytes, Chunks } from './response-bytes.ts';

/** Its token is being checked. */
const CHECKING: PendingResponse = { closed: () => {} };
const LETTER_P = 0x50;
/** Where paths that are posted to differ: `POST /api/v1/quizzes/…`. */
const KIND_AT = 'POST /api/v1/'.length;
const LETTER_Q = 0x71;

/**
 * Answers heartbeats and reads of the feed, of viewers whose token is good and of this stream, also that
 * the service cannot do it now. All else, each other error too, is the origin server's to answer.
 */
export class ViewerFastPath {
  private readonly shapes = new TemplateCache();
  private readonly match: Match = { interval: 0, tokenAt: 0, tokenEnd: 0 };
  private readonly chunks = new Chunks();
  private readonly quizzes: QuizFastPath | null;
  private readonly refusals: Refusals;
  private readonly heldReads: HeldReads | null;

  constructor(
    private readonly service: GatewayBackend,
    private readonly bytes: AnswerBytes,
  ) {
    const { feed } = service;
    this.refusals = new Refusals(bytes);
    this.heldReads = feed && { bytes, feed, refusals: this.refusals };
    this.quizzes = service.quizzes && new QuizFastPath(service, service.quizzes, bytes);
  }

  /** @returns as `Desk.serve` */
  serve(connection: Connection, bytes: Buffer, at: number): number {
    if (bytes[at + KIND_AT] === LETTER_Q && this.quizzes) {
      return this.quizzes.serve(connection, bytes, at);
    }
    const { match } = this;
    const shape = bytes[at] === LETTER_P ? connection.heartbeat : connection.feed;
    if (typeof shape === 'object' && shape.matches(bytes, at, match)) {
      const viewer = this.service.tokens.find(bytes, match.tokenAt, match.tokenEnd);
      if (viewer?.streamId === shape.streamId) {
        return this.answer(connection, shape, viewer, match.interval, null) ? bytes.length : RELAY;
      }
    }
    return this.read(connection, bytes, at);
  }

  private read(connection: Connection, bytes: Buffer, at: number): number {
    const request = readHead(bytes, at);
    if (request === PARTIAL) return INCOMPLETE;
    if (request === OTHER) return RELAY;
    const known = this.service.tokens.known(request.token);
    if (known) return this.admit(connection, request, known) ? request.end : RELAY;
    if (!isToken(request.token)) return RELAY;
    const sent = bytes.subarray(at, request.end);
    connection.begin(CHECKING);
    this.service.tokens.check(request.token).then(
      (viewer) => {
        if (connection.isEnded) return;
        if (!viewer || !this.admit(connection, request, viewer)) connection.relay(sent);
      },
      (error) => {
        if (connection.isEnded) return;
        if (!this.refuse(connection, request.shape, error)) connection.relay(sent);
      },
    );
    return request.end;
  }

  /** @returns whether the client is told why */
  private refuse(connection: Connection, shape: RequestTemplate, error: unknown): boolean {
    const { heartbeats, feed } = this.service;
    const operation = shape.kind === 'heartbeat' ? heartbeats : feed;
    return operation !== null && this.refusals.tell(connection, shape, operation, error);
  }

  /** @returns whether it is answered, now or later; else it is to be passed on, like all below */
  private admit(connection: Connection, request: HotRequest, viewer: KnownViewer): boolean {
    const { shape, interval, lastEventId } = request;
    if (viewer.streamId !== shape.streamId) return false;
    // With where a client was no two requests are alike.
    if (lastEventId === null) {
      const { shapes } = this;
      if (shape.kind !== 'heartbeat') connection.feed = shapes.after(connection.feed, shape);
      else connection.heartbeat = shapes.after(connection.heartbeat, shape);
    }
    return this.answer(connection, shape, viewer, interval, lastEventId);
  }

  private answer(
    connection: Connection,
    shape: RequestTemplate,
    viewer: KnownViewer,
    interval: number,
    lastEventId: string | null,
  ): boolean {
    const { service } = this;
    const nowMs = service.nowMs();
    if (viewer.expiresMs <= nowMs || service.tokens.isBanned(viewer)) return false;
    if (shape.kind === 'heartbeat') return this.register(connection, shape, viewer, nowMs);
    const newest = intervalAt(nowMs) + AHEAD_INTERVALS;
    if (shape.kind === 'interval') {
      return interval <= newest && this.readInterval(connection, shape, viewer, interval);
    }
    const from = lastEventId === null ? interval : parseInterval(lastEventId) + 1;
    return from <= newest && this.openStream(connection, shape, viewer, from);
  }

  private register(
    connection: Connection,
    shape: RequestTemplate,
    { streamId, seat }: KnownViewer,
    nowMs: number,
  ): boolean {
    const { heartbeats } = this.service;
    if (!heartbeats) return false;
    try {
      heartbeats.register(streamId, seat, nowMs);
    } catch (error) {
      return this.refuse(connection, shape, error);
    }
    heartbeats.counter.countImmediate(204);
    connection.answer(this.bytes.noContent(heartbeats.allow));
    return true;
  }

  private readInterval(
    connection: Connection,
    shape: RequestTemplate,
    viewer: KnownViewer,
    interval: number,
  ): boolean {
    const { heldReads } = this;
    const { feed } = this.service;
    if (!feed || !heldReads) return false;
    const { log, counter } = feed;
    const { streamId } = viewer;
    const held = () => {
      // Behind the head of one who waits there may have come half a megabyte (G-31).
      const own = shape.memoryBytes > HEAD_BYTES_MAX ? shape.apart() : shape;
      return new LongPoll(connection, heldReads, own, viewer.token, interval);
    };
    try {
      if (interval > log.sealedTo()) {
        const task = held();
        log.hold(streamId, interval, task);
        connection.begin(task);
        return true;
      }
      const body = log.read(streamId, interval);
      if (body instanceof Promise) {
        const task = held();
        connection.begin(task);
        body.then(
          (found) => task.sealed(found),
          (error) => task.refused(error),
        );
        return true;
      }
      counter.countImmediate(200);
      connection.answer(this.bytes.sealed(interval, body));
      return true;
    } catch (error) {
      return this.refuse(connection, shape, error);
    }
  }

  private openStream(
    connection: Connection,
    shape: RequestTemplate,
    viewer: KnownViewer,
    from: number,
  ): boolean {
    const { feed } = this.service;
    if (!feed) return false;
    const { streamId } = viewer;
    const { log, streams, counter } = feed;
    let task: StreamTask | null = null;
    try {
      streams.begin(viewer, (onEnd) => {
        task = new StreamTask(connection, this.chunks, { log, streamId, from, onEnd });
        return task.stream;
      });
    } catch (error) {
      return this.refuse(connection, shape, error);
    }
    counter.countImmediate(200);
    (task as StreamTask | null)?.begin(this.bytes.opening());
    return true;
  }
}
