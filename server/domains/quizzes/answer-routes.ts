import { answerSchema } from '../../../protocol/quizzes.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Credentials } from '../../auth/credentials.ts';
import { readBody } from '../../http/body.ts';
import { idsOf } from '../../http/path-ids.ts';
import type { Handlers } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AnswerService } from './answer-service.ts';

export interface AnswerRoutes {
  readonly desk: AnswerService;
  readonly credentials: Credentials;
  readonly clock: Clock;
}

/** Answers and winner reports (SPEC Q, W): acknowledged when they are recorded. */
export function answerHandlers({
  desk,
  credentials,
  clock,
}: AnswerRoutes): Handlers<Pick<typeof viewerApi, 'answerQuiz' | 'recordWinner'>> {
  return {
    answerQuiz: async (request, route) => {
      const viewer = await credentials.viewer(request, route, null);
      desk.take(viewer);
      const body = await readBody(request, answerSchema, route.operation.bodyBytes);
      // It has arrived: whatever takes time from here on is ours, not the viewer's.
      const receivedMs = clock.nowMs();
      credentials.requireStay(viewer);
      await desk.answer(viewer, idsOf(request).quiz_id ?? '', body, receivedMs);
      return route.noContent();
    },

    recordWinner: async (request, route) => {
      const viewer = await credentials.viewer(request, route, request.params.stream_id ?? '');
      desk.take(viewer);
      await desk.claim(viewer);
      return route.noContent();
    },
  };
}
