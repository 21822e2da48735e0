import { randomUUID } from 'node:crypto';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { PURCHASE } from '../conformance/operations.ts';
import { QUIZ } from '../harness/harness.ts';
import type { CheckedResponse, Exercises, Fixture } from './fixture.ts';
import { memberExercises } from './members.ts';
import { moderationExercises } from './moderation.ts';
import { presenterExercises } from './presenter.ts';
import { rehearsalExercises } from './rehearsal.ts';
import { exportResponses, reportExercises } from './report.ts';

/** The operations of the studio API. */
export function studioExercises(fixture: Fixture): Exercises {
  const { service } = fixture;
  return {
    ...memberExercises(fixture),
    ...moderationExercises(fixture),
    ...rehearsalExercises(fixture),
    readAccount: async () => [[await fixture.studio('readAccount'), 200]],
    createApiToken: async () => {
      const request = { body: { name: 'laptop' }, headers: { 'Idempotency-Key': randomUUID() } };
      return fixture.twice('createApiToken', request, 201, 409);
    },
    listApiTokens: async () => [[await fixture.studio('listApiTokens'), 200]],
    revokeApiToken: async () => {
      const id = await fixture.createdId('createApiToken', { body: { name: 'old' } });
      const request = { params: { token_id: id } };
      return fixture.twice('revokeApiToken', request, 204, 404);
    },
    createStream: async () => [
      [await fixture.studio('createStream', { body: { title: 'Quiz night' } }), 201],
      [await fixture.studio('createStream', { body: { title: '' } }), 400],
    ],
    listOwnStreams: async () => {
      await service.createStream({ unlisted: true });
      return [[await fixture.studio('listOwnStreams'), 200]];
    },
    readOwnStream: async () => fixture.inStream('readOwnStream', {}, 200),
    patchStream: async () => fixture.inStream('patchStream', { body: { title: 'Part two' } }, 200),
    startStream: async () => {
      const params = { stream_id: await service.createStream() };
      const started = await fixture.studio('startStream', { params });
      await service.studio('POST', `/streams/${params.stream_id}/end`);
      return [
        [started, 200],
        [await fixture.studio('startStream', { params }), 409],
      ];
    },
    endStream: async () => {
      const body = { at: intervalStartMs(9_000_000_000) };
      return [
        ...(await fixture.inStream('endStream', { body }, 200)),
        ...(await fixture.inStream('endStream', {}, 200)),
      ];
    },
    readIngest: async () => fixture.inStream('readIngest', {}, 200),
    rotateStreamKey: async () => fixture.inStream('rotateStreamKey', {}, 200),
    createQuiz: async () => fixture.inStream('createQuiz', { body: QUIZ }, 201),
    listQuizzes: async () => fixture.inStream('listQuizzes', {}, 200),
    orderQuizzes: async () => {
      const params = { stream_id: await service.createStream() };
      await fixture.newDraft(params.stream_id);
      const body = { order: [] };
      return [
        ...(await fixture.inStream('orderQuizzes', { body }, 200)),
        [await fixture.studio('orderQuizzes', { params, body }), 409],
      ];
    },
    importQuizzes: async () => [
      ...(await fixture.inStream('importQuizzes', { body: importFile([QUIZ, QUIZ]) }, 201)),
      ...(await fixture.inStream('importQuizzes', { body: importFile([]) }, 400)),
    ],
    exportQuizzes: async () => {
      const { streamId } = await fixture.openShow();
      const params = { stream_id: streamId };
      return [
        ...(await fixture.inStream('exportQuizzes', {}, 200)),
        [await fixture.studio('exportQuizzes', { params }), 200],
        [await fixture.studio('exportQuizzes', { params, query: '?format=csv' }), 200],
        [await fixture.studio('exportQuizzes', { params, query: '?format=ndjson' }), 400],
      ];
    },
    duplicateQuiz: async () => {
      const { quiz } = await fixture.openShow();
      return [
        [await fixture.studio('duplicateQuiz', { params: { quiz_id: quiz.id } }), 201],
        [await fixture.studio('duplicateQuiz', { params: { quiz_id: randomUUID() } }), 404],
      ];
    },
    readQuiz: async () => {
      const { quiz } = await fixture.openShow();
      const params = { quiz_id: quiz.id };
      const open = await fixture.studio('readQuiz', { params });
      await service.advance(quiz.closeInterval - service.interval() + 1);
      return [
        [open, 200],
        [await fixture.studio('readQuiz', { params }), 200],
        [await fixture.studio('readQuiz', { params: { quiz_id: randomUUID() } }), 404],
      ];
    },
    patchQuiz: async () => {
      const { streamId, quiz } = await fixture.openShow();
      const id = await fixture.newDraft(streamId);
      const body = { question: 'Which one has rings?' };
      return [
        [await fixture.studio('patchQuiz', { params: { quiz_id: id }, body }), 200],
        [await fixture.studio('patchQuiz', { params: { quiz_id: quiz.id }, body }), 409],
      ];
    },
    deleteQuiz: async () => {
      const { streamId, quiz } = await fixture.openShow();
      const id = await fixture.newDraft(streamId);
      return [
        [await fixture.studio('deleteQuiz', { params: { quiz_id: id } }), 204],
        [await fixture.studio('deleteQuiz', { params: { quiz_id: quiz.id } }), 409],
      ];
    },
    publishQuiz: async () => {
      const request = { params: { quiz_id: await fixture.newDraft(await service.createStream()) } };
      return fixture.twice('publishQuiz', request, 200, 409);
    },
    revealQuiz: async () => {
      const { quiz } = await fixture.openShow();
      const request = { params: { quiz_id: quiz.id } };
      const early = await fixture.studio('revealQuiz', request);
      await service.advance(quiz.closeInterval - service.interval() + 1);
      return [
        [early, 409],
        [await fixture.studio('revealQuiz', request), 200],
      ];
    },
    requestWinners: async () => {
      const request = { params: { stream_id: await service.createStream() } };
      return fixture.twice('requestWinners', request, 201, 409);
    },
    listWinnersRounds: async () => {
      const params = { stream_id: await service.createStream() };
      await fixture.studio('requestWinners', { params });
      const open = await fixture.studio('listWinnersRounds', { params });
      await service.advance(6);
      return [
        [open, 200],
        [await fixture.studio('listWinnersRounds', { params }), 200],
      ];
    },
    watchShow: async () => {
      const answers = await fixture.inStream('watchShow', {}, 200);
      await answers[0]?.[0].body?.cancel();
      return answers;
    },
    ...presenterExercises(fixture),
    readSentLog: () => readHistory(fixture, 'readSentLog', '?limit=1', '?limit=0'),
    readAudience: () => readHistory(fixture, 'readAudience', '?from=0', '?from=0&to=2400'),
    readChatLog: () => readHistory(fixture, 'readChatLog', '?kind=purchase', '?kind=heart'),
    sendEvent: async () => {
      const send = (body: object, status: number) =>
        fixture.inStream('sendEvent', { body }, status);
      return [
        ...(await send({ type: 'purchase', data: { text: 'mug' } }, 201)),
        ...(await send({ type: 'discount' }, 201)),
        ...(await send({ type: 'lights', data: null }, 201)),
        ...(await send({ type: 'quiz', data: null }, 400)),
      ];
    },
    exportAnswers: () => exportResponses(fixture, 'exportAnswers'),
    exportWinners: () => exportResponses(fixture, 'exportWinners'),
    exportFeed: () => exportResponses(fixture, 'exportFeed'),
    ...reportExercises(fixture),
  };
}

const importFile = (quizzes: object[]) => ({
  format: 'fourbeat-json',
  text: JSON.stringify({ quizzes }),
});

/** Reads the history of a show without a query, with a valid one and with an invalid one. */
async function readHistory(
  fixture: Fixture,
  operationId: string,
  query: string,
  wrong: string,
): Promise<CheckedResponse[]> {
  const { streamId, viewer } = await fixture.openShow();
  await viewer.post(`/api/v1/events-streams/${streamId}/chats`, { kind: 'message', text: 'Hello' });
  await fixture.service.studio('POST', `/streams/${streamId}/events`, PURCHASE);
  await fixture.service.advance(5);
  const params = { stream_id: streamId };
  return [
    ...(await fixture.inStream(operationId, {}, 200)),
    [await fixture.studio(operationId, { params }), 200],
    [await fixture.studio(operationId, { params, query }), 200],
    [await fixture.studio(operationId, { params, query: wrong }), 400],
  ];
}
