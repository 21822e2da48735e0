import { studioApi } from '../../../protocol/studio-api.ts';
import {
  ownStreamInput,
  type StudioCall,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import type { Handlers } from '../../http/route.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { studioQuizOf } from './quiz-wire.ts';
import type { quizProcedures } from './quizzes-sql.ts';
import type { winnersProcedures } from './winners-sql.ts';

export interface StudioQuizRoutes {
  readonly store: Calls<typeof quizProcedures & typeof winnersProcedures>;
  readonly newId: () => string;
}

export type StudioQuizOperations = Pick<
  typeof studioApi,
  | 'createQuiz'
  | 'readQuiz'
  | 'patchQuiz'
  | 'deleteQuiz'
  | 'publishQuiz'
  | 'revealQuiz'
  | 'requestWinners'
  | 'listWinnersRounds'
>;

/** The routes of a producer's quizzes and winners rounds (SPEC P-15 … P-22). */
export function studioQuizHandlers(
  studio: StudioHandlerFactory,
  { store, newId }: StudioQuizRoutes,
): Handlers<StudioQuizOperations> {
  return {
    createQuiz: studio(studioApi.createQuiz, async (call, quiz) => {
      const row = await store.createQuiz(
        { ...ownStreamInput(call), id: newId(), quiz },
        call.idempotency,
      );
      return studioQuizOf(row);
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

    publishQuiz: studio(studioApi.publishQuiz, async (call) =>
      studioQuizOf(
        await store.publishQuiz({ ...ownQuiz(call), nowMs: call.nowMs }, call.idempotency),
      ),
    ),

    revealQuiz: studio(studioApi.revealQuiz, async (call) =>
      studioQuizOf(await store.revealQuiz(ownQuiz(call), call.idempotency)),
    ),

    requestWinners: studio(studioApi.requestWinners, (call) =>
      store.requestWinners(
        { ...ownStreamInput(call), id: newId(), nowMs: call.nowMs },
        call.idempotency,
      ),
    ),

    listWinnersRounds: studio(studioApi.listWinnersRounds, async (call) => ({
      results: await store.listWinnersRounds(ownStreamInput(call)),
    })),
  };
}

const ownQuiz = ({ producer, params }: StudioCall) => ({ id: params.quiz_id ?? '', producer });
