import type { Outcome } from '../quizzes/answer-desk.ts';
import type { KnownViewer } from '../tokens/viewer-tokens.ts';
import type { AnswerBytes } from './answer-bytes.ts';
import { type Connection, INCOMPLETE, RELAY, type Task } from './connection.ts';
import type { FrontQuizzes, FrontQuizzesOf, FrontService } from './front-service.ts';
import { type Preferences, readQuizHead } from './quiz-head.ts';
import { OTHER, PARTIAL } from './request-head.ts';

/**
 * Takes answers and reports of winners, of viewers whose token is known and good. Whatever is wrong
 * with one before the record is asked is the inner server's to tell.
 */
export class QuizDesk {
  constructor(
    private readonly service: FrontService,
    private readonly quizzes: FrontQuizzes,
    private readonly bytes: AnswerBytes,
  ) {}

  /** @returns as `Desk.serve` */
  serve(connection: Connection, bytes: Buffer, at: number): number {
    const request = readQuizHead(bytes, at);
    if (request === PARTIAL) return INCOMPLETE;
    if (request === OTHER) return RELAY;
    const { id, token, body, preferences, end } = request;
    const nowMs = this.service.nowMs();
    const viewer = this.viewerOf(connection, token, nowMs);
    if (!viewer) return RELAY;
    const isTaken =
      request.kind === 'answer'
        ? this.answer(connection, viewer, id, body, nowMs, preferences)
        : this.claim(connection, viewer, id, preferences);
    return isTaken ? end : RELAY;
  }

  private viewerOf(connection: Connection, token: string, nowMs: number): KnownViewer | null {
    const { tokens } = this.service;
    const last = connection.viewer;
    const viewer = last?.token === token ? last : tokens.known(token);
    if (!viewer || viewer.expiresMs <= nowMs || tokens.isBanned(viewer)) return null;
    connection.viewer = viewer;
    return viewer;
  }

  private answer(
    connection: Connection,
    viewer: KnownViewer,
    quizId: string,
    body: string,
    nowMs: number,
    preferences: Preferences,
  ): boolean {
    const { desk, answers } = this.quizzes;
    const task = new QuizTask(connection, this.bytes, answers, preferences);
    if (!desk.answerAtOnce(viewer, quizId, body, nowMs, task)) return false;
    connection.begin(task);
    return true;
  }

  private claim(
    connection: Connection,
    viewer: KnownViewer,
    streamId: string,
    preferences: Preferences,
  ): boolean {
    const { desk, reports } = this.quizzes;
    if (viewer.streamId !== streamId) return false;
    const task = new QuizTask(connection, this.bytes, reports, preferences);
    if (!desk.claimAtOnce(viewer, task)) return false;
    connection.begin(task);
    return true;
  }
}

/** An answer or a report that the record decides. */
class QuizTask implements Task, Outcome {
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
