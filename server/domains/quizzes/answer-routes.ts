import { answerSchema } from '../../../protocol/quizzes.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Credentials } from '../../auth/credentials.ts';
import { readBody } from '../../http/body.ts';
import { pathIds } from '../../http/parameters.ts';
import type { Handlers } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AnswerService } from './answer-service.ts';

export interface AnswerRoutes {
  readonly answers: AnswerService;
  readonly credentials: Credentials;
  readonly clock: Clock;
}

/** The routes of answers and winner reports (SPEC Q, W). Both are acknowledged once they are stored. */
export function answerHandlers({
  answers,
  credentials,
  clock,
}: AnswerRoutes): Handlers<Pick<typeof viewerApi, 'answerQuiz' | 'recordWinner'>> {
  return {
    answerQuiz: async (request, route) => {
      const viewer = await credentials.viewer(request, route, null);
      answers.take(viewer);
      const body = await readBody(request, answerSchema, route.operation.bodyBytes);
      // The arrival time ends here, so that delays in the service do not count against the viewer.
      const receivedMs = clock.nowMs();
      credentials.requireNotBanned(viewer);
      await answers.answer(viewer, pathIds(request).quiz_id ?? '', body, receivedMs);
      return route.noContent();
    },

    recordWinner: async (request, route) => {
      const viewer = await credentials.viewer(request, route, request.params.stream_id ?? '');
      answers.take(viewer);
      await answers.claim(viewer);
      return route.noContent();
    },
  };
}
