import { randomUUID } from 'node:crypto';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { PURCHASE } from '../conformance/operations.ts';
import { QUIZ } from '../harness/harness.ts';
import type { Answered, Exercises, Ground } from './ground.ts';
import { memberExercises } from './members.ts';
import { moderationExercises } from './moderation.ts';
import { presenterExercises } from './presenter.ts';
import { rehearsalExercises } from './rehearsal.ts';
import { exported, reportExercises } from './report.ts';

/** The operations of the studio API. */
export function studioExercises(ground: Ground): Exercises {
  const { service } = ground;
  return {
    ...memberExercises(ground),
    ...moderationExercises(ground),
    ...rehearsalExercises(ground),
    readAccount: async () => [[await ground.studio('readAccount'), 200]],
    createApiToken: async () => {
      const ask = { body: { name: 'laptop' }, headers: { 'Idempotency-Key': randomUUID() } };
      return [
        [await ground.studio('createApiToken', ask), 201],
        [await ground.studio('createApiToken', ask), 409],
      ];
    },
    listApiTokens: async () => [[await ground.studio('listApiTokens'), 200]],
    revokeApiToken: async () => {
      const id = await ground.made('createApiToken', { body: { name: 'old' } });
      const ask = { params: { token_id: id } };
      return [
        [await ground.studio('revokeApiToken', ask), 204],
        [await ground.studio('revokeApiToken', ask), 404],
      ];
    },
    createStream: async () => [
      [await ground.studio('createStream', { body: { title: 'Quiz night' } }), 201],
      [await ground.studio('createStream', { body: { title: '' } }), 400],
    ],
    listOwnStreams: async () => {
      await service.createStream({ unlisted: true });
      return [[await ground.studio('listOwnStreams'), 200]];
    },
    readOwnStream: async () => ground.inStream('readOwnStream', {}, 200),
    patchStream: async () => ground.inStream('patchStream', { body: { title: 'Part two' } }, 200),
    startStream: async () => {
      const params = { stream_id: await service.createStream() };
      const started = await ground.studio('startStream', { params });
      await service.studio('POST', `/streams/${params.stream_id}/end`);
      return [
        [started, 200],
        [await ground.studio('startStream', { params }), 409],
      ];
    },
    endStream: async () => [
      ...(await ground.inStream(
        'endStream',
        { body: { at: intervalStartMs(9_000_000_000) } },
        200,
      )),
      ...(await ground.inStream('endStream', {}, 200)),
    ],
    readIngest: async () => ground.inStream('readIngest', {}, 200),
    rotateStreamKey: async () => ground.inStream('rotateStreamKey', {}, 200),
    createQuiz: async () => ground.inStream('createQuiz', { body: QUIZ }, 201),
    listQuizzes: async () => ground.inStream('listQuizzes', {}, 200),
    orderQuizzes: async () => [
      ...(await ground.inStream('orderQuizzes', { body: { order: [] } }, 200)),
      ...(await otherOrder(ground)),
    ],
    importQuizzes: async () => [
      ...(await ground.inStream('importQuizzes', { body: fileOf([QUIZ, QUIZ]) }, 201)),
      ...(await ground.inStream('importQuizzes', { body: fileOf([]) }, 400)),
    ],
    exportQuizzes: async () => {
      const { streamId } = await ground.show();
      const params = { stream_id: streamId };
      return [
        ...(await ground.inStream('exportQuizzes', {}, 200)),
        [await ground.studio('exportQuizzes', { params }), 200],
        [await ground.studio('exportQuizzes', { params, query: '?format=csv' }), 200],
        [await ground.studio('exportQuizzes', { params, query: '?format=ndjson' }), 400],
      ];
    },
    duplicateQuiz: async () => {
      const { quiz } = await ground.show();
      return [
        [await ground.studio('duplicateQuiz', { params: { quiz_id: quiz.id } }), 201],
        [await ground.studio('duplicateQuiz', { params: { quiz_id: randomUUID() } }), 404],
      ];
    },
    readQuiz: async () => {
      const { quiz } = await ground.show();
      const params = { quiz_id: quiz.id };
      const open = await ground.studio('readQuiz', { params });
      await service.advance(quiz.closeInterval - service.interval() + 1);
      return [
        [open, 200],
        [await ground.studio('readQuiz', { params }), 200],
        [await ground.studio('readQuiz', { params: { quiz_id: randomUUID() } }), 404],
      ];
    },
    patchQuiz: async () => {
      const { streamId, quiz } = await ground.show();
      const id = await ground.made('createQuiz', { params: { stream_id: streamId }, body: QUIZ });
      const body = { question: 'Which one has rings?' };
      return [
        [await ground.studio('patchQuiz', { params: { quiz_id: id }, body }), 200],
        [await ground.studio('patchQuiz', { params: { quiz_id: quiz.id }, body }), 409],
      ];
    },
    deleteQuiz: async () => {
      const { streamId, quiz } = await ground.show();
      const id = await ground.made('createQuiz', { params: { stream_id: streamId }, body: QUIZ });
      return [
        [await ground.studio('deleteQuiz', { params: { quiz_id: id } }), 204],
        [await ground.studio('deleteQuiz', { params: { quiz_id: quiz.id } }), 409],
      ];
    },
    publishQuiz: async () => {
      const params = { stream_id: await service.createStream() };
      const id = await ground.made('createQuiz', { params, body: QUIZ });
      const ask = { params: { quiz_id: id } };
      return [
        [await ground.studio('publishQuiz', ask), 200],
        [await ground.studio('publishQuiz', ask), 409],
      ];
    },
    revealQuiz: async () => {
      const { quiz } = await ground.show();
      const ask = { params: { quiz_id: quiz.id } };
      const early = await ground.studio('revealQuiz', ask);
      await service.advance(quiz.closeInterval - service.interval() + 1);
      return [
        [early, 409],
        [await ground.studio('revealQuiz', ask), 200],
      ];
    },
    requestWinners: async () => {
      const ask = { params: { stream_id: await service.createStream() } };
      return [
        [await ground.studio('requestWinners', ask), 201],
        [await ground.studio('requestWinners', ask), 409],
      ];
    },
    listWinnersRounds: async () => {
      const params = { stream_id: await service.createStream() };
      await ground.studio('requestWinners', { params });
      const open = await ground.studio('listWinnersRounds', { params });
      await service.advance(6);
      return [
        [open, 200],
        [await ground.studio('listWinnersRounds', { params }), 200],
      ];
    },
    watchShow: async () => {
      const answers = await ground.inStream('watchShow', {}, 200);
      await answers[0]?.[0].body?.cancel();
      return answers;
    },
    ...presenterExercises(ground),
    readSentLog: () => looked(ground, 'readSentLog', '?limit=1', '?limit=0'),
    readAudience: () => looked(ground, 'readAudience', '?from=0', '?from=0&to=2400'),
    readChatLog: () => looked(ground, 'readChatLog', '?kind=purchase', '?kind=heart'),
    sendEvent: async () => [
      ...(await ground.inStream(
        'sendEvent',
        { body: { type: 'purchase', data: { text: 'mug' } } },
        201,
      )),
      ...(await ground.inStream('sendEvent', { body: { type: 'discount' } }, 201)),
      ...(await ground.inStream('sendEvent', { body: { type: 'lights', data: null } }, 201)),
      ...(await ground.inStream('sendEvent', { body: { type: 'quiz', data: null } }, 400)),
    ],
    exportAnswers: () => exported(ground, 'exportAnswers'),
    exportWinners: () => exported(ground, 'exportWinners'),
    exportFeed: () => exported(ground, 'exportFeed'),
    ...reportExercises(ground),
  };
}

const fileOf = (quizzes: object[]) => ({
  format: 'fourbeat-json',
  text: JSON.stringify({ quizzes }),
});

async function otherOrder(ground: Ground): Promise<Answered[]> {
  const params = { stream_id: await ground.service.createStream() };
  await ground.made('createQuiz', { params, body: QUIZ });
  const response = await ground.studio('orderQuizzes', { params, body: { order: [] } });
  return [[response, 409]];
}

/** Reads what a show has had, also by a query, and by one that is wrong. */
async function looked(
  ground: Ground,
  operationId: string,
  query: string,
  wrong: string,
): Promise<Answered[]> {
  const { streamId, viewer } = await ground.show();
  await viewer.post(`/api/v1/events-streams/${streamId}/chats`, { kind: 'message', text: 'Hello' });
  await ground.service.studio('POST', `/streams/${streamId}/events`, PURCHASE);
  await ground.service.advance(5);
  const params = { stream_id: streamId };
  return [
    ...(await ground.inStream(operationId, {}, 200)),
    [await ground.studio(operationId, { params }), 200],
    [await ground.studio(operationId, { params, query }), 200],
    [await ground.studio(operationId, { params, query: wrong }), 400],
  ];
}
