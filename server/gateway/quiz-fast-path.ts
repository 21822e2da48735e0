import type { KnownViewer } from '../auth/viewer-tokens/viewer-tokens.ts';
import type { OutcomeCallbacks } from '../domains/quizzes/answer-service.ts';
import { type Connection, INCOMPLETE, RELAY } from './connection.ts';
import type { PendingResponse } from './connection-state.ts';
import type { FrontQuizzes, FrontQuizzesOf, GatewayBackend } from './gateway-backend.ts';
import { type Preferences, type QuizRequest, readQuizHead } from './quiz-request.ts';
import { OTHER, PARTIAL } from './request-head.ts';
import { UUID_CHARS } from './request-line.ts';
import type { AnswerBytes } from './response-bytes.ts';

/**
 * Takes answers and reports of winners, of viewers whose token is known and good. Whatever is wrong
 * with one before the database is asked is the origin server's to tell.
 */
export class QuizFastPath {
  constructor(
    private readonly service: GatewayBackend,
    private readonly quizzes: FrontQuizzes,
    private readonly bytes: AnswerBytes,
  ) {}

  /** @returns as `Desk.serve` */
  serve(connection: Connection, bytes: Buffer, at: number): number {
    const request = readQuizHead(bytes, at);
    if (request === PARTIAL) return INCOMPLETE;
    if (request === OTHER) return RELAY;
    const nowMs = this.service.nowMs();
    const viewer = this.viewerOf(bytes, request, nowMs);
    if (!viewer) return RELAY;
    const isTaken =
      request.kind === 'answer'
        ? this.answer(connection, viewer, bytes, request, nowMs)
        : this.claim(connection, viewer, bytes, request);
    return isTaken ? request.end : RELAY;
  }

  private viewerOf(
    bytes: Buffer,
    { tokenAt, tokenEnd }: QuizRequest,
    nowMs: number,
  ): KnownViewer | null {
    const { tokens } = this.service;
    const viewer = tokens.find(bytes, tokenAt, tokenEnd);
    return viewer && viewer.expiresMs > nowMs && !tokens.isBanned(viewer) ? viewer : null;
  }

  private answer(
    connection: Connection,
    viewer: KnownViewer,
    bytes: Buffer,
    request: QuizRequest,
    nowMs: number,
  ): boolean {
    const { desk, answers } = this.quizzes;
    const task = new QuizTask(connection, this.bytes, answers, request.preferences);
    if (!desk.tryAnswer(viewer, bytes, request, nowMs, task)) return false;
    connection.begin(task);
    return true;
  }

  private claim(
    connection: Connection,
    viewer: KnownViewer,
    bytes: Buffer,
    { idAt, preferences }: QuizRequest,
  ): boolean {
    const { desk, reports } = this.quizzes;
    const streamId = bytes.toString('latin1', idAt, idAt + UUID_CHARS);
    if (viewer.streamId !== streamId) return false;
    const task = new QuizTask(connection, this.bytes, reports, preferences);
    if (!desk.tryClaim(viewer, task)) return false;
    connection.begin(task);
    return true;
  }
}

/** An answer or a report that the database decides. */
class QuizTask implements PendingResponse, OutcomeCallbacks {
  private readonly startedMs = performance.now();

  constructor(
    private readonly connection: Connection,
    private readonly bytes: AnswerBytes,
    private readonly of: FrontQuizzesOf,
    private readonly preferences: Preferences,
  ) {}

  accept(): void {
    this.of.counter.count(204, this.startedMs);
    this.connection.answer(this.bytes.noContent(this.of.allow));
  }

  /** It is decided: to pass it on would ask again. */
  refuse(error: unknown): void {
    const told = this.of.refusal(error, this.preferences);
    this.of.counter.count(told.status, this.startedMs);
    told.text().then((body) => this.connection.answer(this.bytes.whole(told, body)));
  }

  /** What was sent is recorded all the same. */
  closed(): void {}
}
