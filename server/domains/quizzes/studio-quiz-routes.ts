import { studioApi } from '../../../protocol/studio-api.ts';
import type { TheRecord } from '../../app/procedures.ts';
import { ofStream, type StudioCall, type StudioWrapper } from '../../auth/studio-operation.ts';
import type { Handlers } from '../../http/route.ts';
import { studioQuizOf } from '../streams/studio-wire.ts';

export interface StudioQuizRoutes {
  readonly record: Pick<
    TheRecord,
    | 'createQuiz'
    | 'findOwnQuiz'
    | 'patchQuiz'
    | 'deleteQuiz'
    | 'publishQuiz'
    | 'revealQuiz'
    | 'requestWinners'
    | 'listWinnersRounds'
  >;
  readonly newId: () => string;
}

type Operations = Pick<
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

/** Quizzes and winners rounds of the account's streams (SPEC P-15 … P-22). */
export function studioQuizHandlers(
  studio: StudioWrapper,
  { record, newId }: StudioQuizRoutes,
): Handlers<Operations> {
  return {
    createQuiz: studio(studioApi.createQuiz, async (call, quiz) => {
      const row = await record.createQuiz({ ...ofStream(call), id: newId(), quiz }, call.once);
      return studioQuizOf(row);
    }),

    readQuiz: studio(studioApi.readQuiz, async (call) =>
      studioQuizOf(await record.findOwnQuiz(ownQuiz(call))),
    ),

    patchQuiz: studio(studioApi.patchQuiz, async (call, patch) =>
      studioQuizOf(await record.patchQuiz({ ...ownQuiz(call), patch }, call.once)),
    ),

    deleteQuiz: studio(studioApi.deleteQuiz, async (call) => {
      await record.deleteQuiz(ownQuiz(call), call.once);
      return null;
    }),

    publishQuiz: studio(studioApi.publishQuiz, async (call) =>
      studioQuizOf(await record.publishQuiz({ ...ownQuiz(call), nowMs: call.nowMs }, call.once)),
    ),

    revealQuiz: studio(studioApi.revealQuiz, async (call) =>
      studioQuizOf(await record.revealQuiz(ownQuiz(call), call.once)),
    ),

    requestWinners: studio(studioApi.requestWinners, (call) =>
      record.requestWinners({ ...ofStream(call), id: newId(), nowMs: call.nowMs }, call.once),
    ),

    listWinnersRounds: studio(studioApi.listWinnersRounds, async (call) => ({
      results: await record.listWinnersRounds(ofStream(call)),
    })),
  };
}

const ownQuiz = ({ producer, params }: StudioCall) => ({ id: params.quiz_id ?? '', producer });
