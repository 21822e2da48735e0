import { studioApi } from '../../../protocol/studio-api.ts';
import {
  ownStreamInput,
  type StudioCall,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { studioQuizOf } from './quiz-wire.ts';
import type { quizProcedures } from './quizzes-sql.ts';
import type { winnersProcedures } from './winners-sql.ts';

export interface StudioQuizRoutes {
  readonly store: Calls<typeof quizProcedures & typeof winnersProcedures>;
  readonly newId: () => string;
}

/** The routes of a producer's quizzes and winners rounds (SPEC P-15 … P-22). */
export function studioQuizHandlers(
  studio: StudioHandlerFactory,
  { store, newId }: StudioQuizRoutes,
) {
  return {
    createQuiz: studio(studioApi.createQuiz, async (call, quiz) => {
      const input = { ...ownStreamInput(call), id: newId(), quiz };
      return studioQuizOf(await store.createQuiz(input, call.idempotency));
    }),

    readQuiz: studio(studioApi.readQuiz, async (call) =>
      studioQuizOf(await store.findOwnQuiz(ownQuiz(call))),
    ),

    patchQuiz: studio(studioApi.patchQuiz, async (call, patch) =>
      studioQuizOf(await store.patchQuiz({ ...ownQuiz(call), patch }, call.idempotency)),
    ),

    deleteQuiz: studio(studioApi.deleteQuiz, async (call) => {
      await store.deleteQuiz(ownQuiz(call), call.idempotency);
      return null;
    }),

    publishQuiz: studio(studioApi.publishQuiz, async (call) => {
      const input = { ...ownQuiz(call), nowMs: call.nowMs };
      return studioQuizOf(await store.publishQuiz(input, call.idempotency));
    }),

    revealQuiz: studio(studioApi.revealQuiz, async (call) =>
      studioQuizOf(await store.revealQuiz(ownQuiz(call), call.idempotency)),
    ),

    requestWinners: studio(studioApi.requestWinners, (call) => {
      const input = { ...ownStreamInput(call), id: newId(), nowMs: call.nowMs };
      return store.requestWinners(input, call.idempotency);
    }),

    listWinnersRounds: studio(
      studioApi.listWinnersRounds,
      async (call) => ({
        results: await store.listWinnersRounds(ownStreamInput(call)),
      }),
      { isLarge: true },
    ),
  };
}

const ownQuiz = ({ producer, params }: StudioCall) => ({ id: params.quiz_id ?? '', producer });
