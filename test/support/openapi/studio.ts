import { randomUUID } from 'node:crypto';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { PURCHASE } from '../conformance/operations.ts';
import { QUIZ } from '../harness/harness.ts';
import type { CheckedResponse, Exercises, Fixture } from './fixture.ts';
import { memberExercises } from './members.ts';
import { moderationExercises } from './moderation.ts';
import { presenterExercises } from './presenter.ts';
import { productExercises } from './products.ts';
import { rehearsalExercises } from './rehearsal.ts';
import { exportResponses, reportExercises } from './report.ts';
import { winnerContactExercises } from './winner-contacts.ts';

/** The operations of the studio API. */
export function studioExercises(fixture: Fixture): Exercises {
  const { service } = fixture;
  return {
    ...memberExercises(fixture),
    ...moderationExercises(fixture),
    ...rehearsalExercises(fixture),
    ...productExercises(fixture),
    ...winnerContactExercises(fixture),
    readAccount: async () => [[await fixture.sendAsAccount('readAccount'), 200]],
    createApiToken: async () => {
      const request = { body: { name: 'laptop' }, headers: { 'Idempotency-Key': randomUUID() } };
      return fixture.sendTwice('createApiToken', request, 201, 409);
    },
    listApiTokens: async () => [[await fixture.sendAsAccount('listApiTokens'), 200]],
    revokeApiToken: async () => {
      const id = await fixture.createdId('createApiToken', { body: { name: 'old' } });
      const request = { params: { token_id: id } };
      return fixture.sendTwice('revokeApiToken', request, 204, 404);
    },
    createStream: async () => [
      [await fixture.sendAsAccount('createStream', { body: { title: 'Quiz night' } }), 201],
      [await fixture.sendAsAccount('createStream', { body: { title: '' } }), 400],
    ],
    listOwnStreams: async () => {
      await service.createStream({ unlisted: true });
      return [[await fixture.sendAsAccount('listOwnStreams'), 200]];
    },
    readOwnStream: async () => fixture.sendInStream('readOwnStream', {}, 200),
    patchStream: async () =>
      fixture.sendInStream('patchStream', { body: { title: 'Part two' } }, 200),
    startStream: async () => {
      const params = { stream_id: await service.createStream() };
      const started = await fixture.sendAsAccount('startStream', { params });
      await service.studio('POST', `/streams/${params.stream_id}/end`);
      return [
        [started, 200],
        [await fixture.sendAsAccount('startStream', { params }), 409],
      ];
    },
    endStream: async () => {
      const body = { at: intervalStartMs(9_000_000_000) };
      return [
        ...(await fixture.sendInStream('endStream', { body }, 200)),
        ...(await fixture.sendInStream('endStream', {}, 200)),
      ];
    },
    reopenStream: async () => {
      const params = { stream_id: await service.createStream() };
      await service.studio('POST', `/streams/${params.stream_id}/end`);
      return [
        [await fixture.sendAsAccount('reopenStream', { params }), 200],
        ...(await fixture.sendInStream('reopenStream', {}, 200)),
      ];
    },
    readIngest: async () => fixture.sendInStream('readIngest', {}, 200),
    rotateStreamKey: async () => fixture.sendInStream('rotateStreamKey', {}, 200),
    createQuiz: async () => fixture.sendInStream('createQuiz', { body: QUIZ }, 201),
    listQuizzes: async () => fixture.sendInStream('listQuizzes', {}, 200),
    orderQuizzes: async () => {
      const params = { stream_id: await service.createStream() };
      await fixture.newDraft(params.stream_id);
      const body = { order: [] };
      return [
        ...(await fixture.sendInStream('orderQuizzes', { body }, 200)),
        [await fixture.sendAsAccount('orderQuizzes', { params, body }), 409],
      ];
    },
    importQuizzes: async () => [
      ...(await fixture.sendInStream('importQuizzes', { body: importFile([QUIZ, QUIZ]) }, 201)),
      ...(await fixture.sendInStream('importQuizzes', { body: importFile([]) }, 400)),
    ],
    previewImport: async () => [
      ...(await fixture.sendInStream('previewImport', { body: importFile([QUIZ, QUIZ]) }, 200)),
      ...(await fixture.sendInStream('previewImport', { body: importFile([]) }, 400)),
    ],
    exportQuizzes: async () => {
      const { streamId } = await fixture.createShow();
      const params = { stream_id: streamId };
      return [
        ...(await fixture.sendInStream('exportQuizzes', {}, 200)),
        [await fixture.sendAsAccount('exportQuizzes', { params }), 200],
        [await fixture.sendAsAccount('exportQuizzes', { params, query: '?format=csv' }), 200],
        [await fixture.sendAsAccount('exportQuizzes', { params, query: '?format=ndjson' }), 400],
      ];
    },
    duplicateQuiz: async () => {
      const { quiz } = await fixture.createShow();
      return [
        [await fixture.sendAsAccount('duplicateQuiz', { params: { quiz_id: quiz.id } }), 201],
        [await fixture.sendAsAccount('duplicateQuiz', { params: { quiz_id: randomUUID() } }), 404],
      ];
    },
    readQuiz: async () => {
      const { quiz } = await fixture.createShow();
      const params = { quiz_id: quiz.id };
      const open = await fixture.sendAsAccount('readQuiz', { params });
      await service.advance(quiz.closeInterval - service.interval() + 1);
      return [
        [open, 200],
        [await fixture.sendAsAccount('readQuiz', { params }), 200],
        [await fixture.sendAsAccount('readQuiz', { params: { quiz_id: randomUUID() } }), 404],
      ];
    },
    patchQuiz: async () => {
      const { streamId, quiz } = await fixture.createShow();
      const id = await fixture.newDraft(streamId);
      const body = { question: 'Which one has rings?' };
      return [
        [await fixture.sendAsAccount('patchQuiz', { params: { quiz_id: id }, body }), 200],
        [await fixture.sendAsAccount('patchQuiz', { params: { quiz_id: quiz.id }, body }), 409],
      ];
    },
    deleteQuiz: async () => {
      const { streamId, quiz } = await fixture.createShow();
      const id = await fixture.newDraft(streamId);
      return [
        [await fixture.sendAsAccount('deleteQuiz', { params: { quiz_id: id } }), 204],
        [await fixture.sendAsAccount('deleteQuiz', { params: { quiz_id: quiz.id } }), 409],
      ];
    },
    publishQuiz: async () => {
      const request = { params: { quiz_id: await fixture.newDraft(await service.createStream()) } };
      return fixture.sendTwice('publishQuiz', request, 200, 409);
    },
    revealQuiz: async () => {
      const { quiz } = await fixture.createShow();
      const request = { params: { quiz_id: quiz.id } };
      const early = await fixture.sendAsAccount('revealQuiz', request);
      await service.advance(quiz.closeInterval - service.interval() + 1);
      return [
        [early, 409],
        [await fixture.sendAsAccount('revealQuiz', request), 200],
      ];
    },
    requestWinners: async () => {
      const request = { params: { stream_id: await service.createStream() } };
      return fixture.sendTwice('requestWinners', request, 201, 409);
    },
    listWinnersRounds: async () => {
      const params = { stream_id: await service.createStream() };
      await fixture.sendAsAccount('requestWinners', { params });
      const open = await fixture.sendAsAccount('listWinnersRounds', { params });
      await service.advance(6);
      return [
        [open, 200],
        [await fixture.sendAsAccount('listWinnersRounds', { params }), 200],
      ];
    },
    watchShow: async () => {
      const responses = await fixture.sendInStream('watchShow', {}, 200);
      await responses[0]?.[0].body?.cancel();
      return responses;
    },
    ...presenterExercises(fixture),
    readSentLog: () => readHistory(fixture, 'readSentLog', '?limit=1', '?limit=0'),
    readAudience: () => readHistory(fixture, 'readAudience', '?from=0', '?from=0&to=2400'),
    readChatLog: () => readHistory(fixture, 'readChatLog', '?kind=purchase', '?kind=heart'),
    sendEvent: async () => {
      const send = (body: object, status: number) =>
        fixture.sendInStream('sendEvent', { body }, status);
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
  invalidQuery: string,
): Promise<CheckedResponse[]> {
  const { streamId, viewer } = await fixture.createShow();
  await viewer.post(`/api/v1/events-streams/${streamId}/chats`, { kind: 'message', text: 'Hello' });
  await fixture.service.studio('POST', `/streams/${streamId}/events`, PURCHASE);
  await fixture.service.advance(5);
  const params = { stream_id: streamId };
  return [
    ...(await fixture.sendInStream(operationId, {}, 200)),
    [await fixture.sendAsAccount(operationId, { params }), 200],
    [await fixture.sendAsAccount(operationId, { params, query }), 200],
    [await fixture.sendAsAccount(operationId, { params, query: invalidQuery }), 400],
  ];
}
