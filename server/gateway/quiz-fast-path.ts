import { admissionOf } from '../auth/viewer-tokens/checked-viewers.ts';
import type { ViewerWithToken } from '../auth/viewer-tokens/viewer-tokens.ts';
import type { OutcomeCallbacks } from '../domains/quizzes/answer-service.ts';
import type { Connection, PendingResponse } from './connection.ts';
import type { GatewayBackend, QuizOperation, QuizOperations } from './gateway-backend.ts';
import { UUID_CHARS } from './request-classifier.ts';
import {
  type ErrorPreferences,
  FALLBACK,
  parseQuizRequest,
  type QuizRequest,
} from './request-parser.ts';
import type { ResponseBytes } from './response-bytes.ts';

/**
 * Takes answers and winner reports of admitted viewers whose token is cached. Everything else, and each
 * request that is rejected before it reaches the database, falls through to the origin server.
 */
export class QuizFastPath {
  constructor(
    private readonly backend: GatewayBackend,
    private readonly quizzes: QuizOperations,
    private readonly responses: ResponseBytes,
  ) {}

  /** See `RequestHandler.handle`. */
  handle(connection: Connection, bytes: Buffer, at: number): number {
    const request = parseQuizRequest(bytes, at);
    if (typeof request === 'number') return request;
    const { clock, tokens } = this.backend;
    const nowMs = clock.nowMs();
    const viewer = tokens.cache.find(bytes, request.tokenAt, request.tokenEnd);
    if (!viewer) return FALLBACK;
    const isTaken =
      request.path === 'quiz-answer'
        ? this.answer(connection, viewer, bytes, request, nowMs)
        : this.reportWinner(connection, viewer, bytes, request, nowMs);
    return isTaken ? request.end : FALLBACK;
  }

  private answer(
    connection: Connection,
    viewer: ViewerWithToken,
    bytes: Buffer,
    request: QuizRequest,
    nowMs: number,
  ): boolean {
    // The path names the quiz; the service checks its stream.
    if (!this.isAdmitted(viewer, null, nowMs)) return false;
    const { service, answers } = this.quizzes;
    const response = new QuizResponse(connection, this.responses, answers, request.preferences);
    if (!service.tryAnswer(viewer, bytes, request, nowMs, response)) return false;
    connection.setPending(response);
    return true;
  }

  private reportWinner(
    connection: Connection,
    viewer: ViewerWithToken,
    bytes: Buffer,
    { idAt, preferences }: QuizRequest,
    nowMs: number,
  ): boolean {
    const streamId = bytes.toString('latin1', idAt, idAt + UUID_CHARS);
    if (!this.isAdmitted(viewer, streamId, nowMs)) return false;
    const { service, winnersReports } = this.quizzes;
    const response = new QuizResponse(connection, this.responses, winnersReports, preferences);
    if (!service.tryClaim(viewer, response)) return false;
    connection.setPending(response);
    return true;
  }

  private isAdmitted(viewer: ViewerWithToken, streamId: string | null, nowMs: number): boolean {
    return admissionOf(viewer, streamId, nowMs, this.backend.bans) === 'admitted';
  }
}

/** The response to an answer or a winner report that waits for the database. */
class QuizResponse implements PendingResponse, OutcomeCallbacks {
  private readonly startedMs = performance.now();

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

  /** The answer is stored all the same. */
  onClose(): void {}
}
