import { LRUCache } from 'lru-cache';
import { intervalAt } from '../../protocol/interval.ts';
import { type Answer, answerSchema } from '../../protocol/quizzes.ts';
import type { viewerApi } from '../../protocol/viewer-api.ts';
import type { Clock } from '../clock.ts';
import { readBody } from '../http/body.ts';
import type { Credentials } from '../http/credentials.ts';
import { idsOf } from '../http/path-ids.ts';
import { Problem, unauthorized } from '../http/problem.ts';
import type { Rate } from '../http/rate.ts';
import type { Handlers } from '../http/route.ts';
import { Batch } from '../sql/batch.ts';
import type { Calls } from '../sql/procedure.ts';
import type { Viewer } from '../tokens/viewer-tokens.ts';
import type { AnswerDecision, ArrivedAnswer, answerProcedures } from './answers-sql.ts';
import type { PublishedQuiz, quizProcedures } from './quizzes-sql.ts';
import type { ClaimDecision, WinnerClaim, winnersProcedures } from './winners-sql.ts';

type AnswerRecord = Pick<
  Calls<typeof quizProcedures & typeof answerProcedures & typeof winnersProcedures>,
  'findPublishedQuiz' | 'recordAnswers' | 'recordWinners'
>;

export interface AnswerRoutes {
  readonly record: AnswerRecord;
  readonly credentials: Credentials;
  readonly clock: Clock;
  /** Answers and winner reports for each viewer. */
  readonly rate: Rate;
  /** Told what became of each answer, for metrics. */
  readonly onDecided: (decision: AnswerDecision) => void;
}

// One statement with 1,000 rows takes about 2 ms; more would hold up what shares the commit.
const BATCH_MAX = 1_000;
const QUIZZES_KEPT = 1_000;

/** Answers and winner reports (SPEC Q, W): acknowledged when they are recorded. */
export function answerHandlers(
  routes: AnswerRoutes,
): Handlers<Pick<typeof viewerApi, 'answerQuiz' | 'recordWinner'>> {
  const { record, credentials, clock, rate, onDecided } = routes;
  const quizzes = publishedQuizzes(record);
  const answers = new Batch<ArrivedAnswer, AnswerDecision>(record.recordAnswers, BATCH_MAX);
  const claims = new Batch<WinnerClaim, ClaimDecision>(record.recordWinners, BATCH_MAX);

  return {
    answerQuiz: async (request, route) => {
      const viewer = await credentials.viewer(request, route, null);
      rate.take(`${viewer.streamId}:${viewer.seat}`);
      const body = await readBody(request, answerSchema, route.operation.bodyBytes);
      // It has arrived: whatever takes time from here on is ours, not the viewer's.
      const receivedMs = clock.nowMs();
      credentials.requireStay(viewer);
      if (body.streamId !== viewer.streamId) {
        throw unauthorized('Bearer', 'The viewer token is of another stream than streamId.');
      }
      const quiz = await quizzes(idsOf(request).quiz_id ?? '');
      const choice = checkedChoice(quiz, body, viewer);
      const decision = await answers.add({
        quiz: choice.quiz,
        seat: viewer.seat,
        choice: choice.index,
        receivedMs,
        interval: intervalAt(receivedMs),
      });
      onDecided(decision);
      if (decision === 'other') {
        throw new Problem(409, 'You gave another answer to this quiz; the first one stands.');
      }
      if (decision === 'record' || decision === 'same') return route.noContent();
      throw new Problem(409, 'The quiz is closed.');
    },

    recordWinner: async (request, route) => {
      const viewer = await credentials.viewer(request, route, request.params.stream_id ?? '');
      rate.take(`${viewer.streamId}:${viewer.seat}`);
      const decision = await claims.add({
        streamId: viewer.streamId,
        seat: viewer.seat,
        receivedMs: clock.nowMs(),
      });
      if (decision === 'no-round') {
        throw new Problem(409, 'No winners are asked for now; wait for request-quiz-winners.');
      }
      if (decision === 'not-qualified') {
        throw unauthorized('Bearer', 'Not every quiz of this game was answered correctly.');
      }
      return route.noContent();
    },
  };
}

function checkedChoice(
  quiz: PublishedQuiz | null,
  body: Answer,
  viewer: Viewer,
): { quiz: number; index: number } {
  if (!quiz || quiz.streamId !== viewer.streamId) {
    throw new Problem(404, 'There is no such quiz in this stream.');
  }
  const index = quiz.choices.indexOf(body.choice);
  if (index < 0) throw new Problem(400, 'choice: must be one of the keys of the quiz’s choices.');
  if (body.closeInterval !== quiz.closeInterval) {
    throw new Problem(400, 'closeInterval: must be that of the quiz event.');
  }
  return { quiz: quiz.number, index };
}

// A published quiz never changes in what is checked here, so it is read once; its state is not.
function publishedQuizzes(record: Pick<AnswerRecord, 'findPublishedQuiz'>) {
  const known = new LRUCache<string, PublishedQuiz>({ max: QUIZZES_KEPT });
  const loading = new Map<string, Promise<PublishedQuiz | null>>();
  return async (id: string): Promise<PublishedQuiz | null> => {
    const quiz = known.get(id);
    if (quiz) return quiz;
    const underWay = loading.get(id) ?? record.findPublishedQuiz({ id });
    loading.set(id, underWay);
    const found = await underWay.finally(() => loading.delete(id));
    if (found) known.set(id, found);
    return found;
  };
}
