import type { Outcome } from '../quizzes/answer-desk.ts';
import type { KnownViewer } from '../tokens/viewer-tokens.ts';
import type { AnswerBytes } from './answer-bytes.ts';
import type { AnswerMatch, AnswerShape, Preferences } from './answer-shape.ts';
import { type Connection, INCOMPLETE, RELAY, type Task } from './connection.ts';
import type { FrontQuizzes, FrontQuizzesOf, FrontService } from './front-service.ts';
import { readQuizHead } from './quiz-head.ts';
import { OTHER, PARTIAL } from './request-head.ts';

/** So many kinds of clients are known at once; to look through all takes as long as to read a head. */
const SHAPES_MAX = 16;

/**
 * Takes answers and reports of winners, of viewers whose token is known and good. Whatever is wrong
 * with one before the record is asked is the inner server's to tell.
 */
export class QuizDesk {
  /** Those that fit last are first. A viewer answers too seldom for shapes of its own. */
  private readonly shapes: AnswerShape[] = [];
  private readonly match: AnswerMatch = { quizId: '', token: '', body: '' };

  constructor(
    private readonly service: FrontService,
    private readonly quizzes: FrontQuizzes,
    private readonly bytes: AnswerBytes,
  ) {}

  /** @returns as `Desk.serve` */
  serve(connection: Connection, bytes: Buffer, at: number): number {
    const { match } = this;
    const nowMs = this.service.nowMs();
    const shape = this.fitting(bytes, at);
    if (shape) {
      const viewer = this.viewerOf(connection, match.token, nowMs);
      if (!viewer) return RELAY;
      const isTaken = this.answer(
        connection,
        viewer,
        match.quizId,
        match.body,
        nowMs,
        shape.preferences,
      );
      return isTaken ? bytes.length : RELAY;
    }
    const request = readQuizHead(bytes, at);
    if (request === PARTIAL) return INCOMPLETE;
    if (request === OTHER) return RELAY;
    const { id, token, body, preferences, end } = request;
    const viewer = this.viewerOf(connection, token, nowMs);
    if (!viewer) return RELAY;
    if (request.shape) this.keep(request.shape);
    const isTaken = request.shape
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

  private fitting(bytes: Buffer, at: number): AnswerShape | null {
    const { shapes } = this;
    for (let index = 0; index < shapes.length; index++) {
      const shape = shapes[index] as AnswerShape;
      if (!shape.matches(bytes, at, this.match)) continue;
      if (index > 0) shapes[index] = shapes[index - 1] as AnswerShape;
      if (index > 0) shapes[index - 1] = shape;
      return shape;
    }
    return null;
  }

  private keep(shape: AnswerShape): void {
    if (this.shapes.length === SHAPES_MAX) this.shapes.pop();
    this.shapes.push(shape);
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
