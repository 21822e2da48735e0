import { expect } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { bearer, type CheckedResponse, type Exercises, type Fixture } from './fixture.ts';
import { moderatedChatResponses } from './moderation.ts';

/** The operations of the viewer API. */
export function viewerExercises(fixture: Fixture): Exercises {
  const { service } = fixture;
  return {
    readTime: async () => {
      const plain = { headers: { Accept: 'text/plain' } };
      const text = await fixture.send('readTime', plain);
      expect(text.headers.get('content-type')).toStartWith('text/plain');
      return [
        [await fixture.send('readTime'), 200],
        [text, 200],
        [await fixture.send('readTime', { query: '?format=iso' }), 200],
        [await fixture.send('readTime', { query: '?format=ntp' }), 400],
      ];
    },
    readMe: async () => [[await fixture.sendAsAccount('readMe'), 200]],
    listStreams: async () => {
      for (let n = 0; n < 3; n++) await service.createStream();
      const query = `?producer=${service.account.uuid}&page_size=1`;
      return [
        [await fixture.send('listStreams', { query }), 200],
        [await fixture.sendAsAccount('listStreams', { query: `${query}&page=2` }), 200],
        [await fixture.send('listStreams', { query: `?producer=${randomUUID()}` }), 200],
      ];
    },
    readStream: async () => {
      const { streamId, viewer } = await fixture.createShow();
      const params = { stream_id: streamId };
      return [
        [await fixture.send('readStream', { params }), 200],
        [await fixture.send('readStream', { params, authorization: bearer(viewer) }), 200],
      ];
    },
    createToken: async () => {
      const body = { stream_id: await service.createStream(), unique_user_identifier: 'user-42' };
      return [[await fixture.sendAsAccount('createToken', { body }), 200]];
    },
    readJwks: async () => [[await fixture.send('readJwks'), 200]],
    registerView: async () => {
      const { streamId, viewer } = await fixture.createShow();
      const request = { params: { stream_id: streamId }, authorization: bearer(viewer) };
      return [[await fixture.send('registerView', request), 204]];
    },
    readViewCount: async () => {
      const { streamId, viewer } = await fixture.createShow();
      const request = { params: { stream_id: streamId }, authorization: bearer(viewer) };
      return [[await fixture.send('readViewCount', request), 200]];
    },
    answerQuiz: async () => {
      const { streamId, viewer, quiz } = await fixture.createShow();
      const request = {
        params: { quiz_id: quiz.id },
        authorization: bearer(viewer),
        body: { streamId, choice: 'Mars', closeInterval: quiz.closeInterval },
      };
      const other = { ...request, body: { ...request.body, choice: 'Venus' } };
      const unknown = { ...request, params: { quiz_id: randomUUID() } };
      return [
        [await fixture.send('answerQuiz', request), 204],
        [await fixture.send('answerQuiz', other), 409],
        [await fixture.send('answerQuiz', unknown), 404],
      ];
    },
    recordWinner: async () => {
      const streamId = await service.createStream();
      const viewer = await service.viewer(streamId);
      const request = { params: { stream_id: streamId }, authorization: bearer(viewer) };
      const early = await fixture.send('recordWinner', request);
      await service.studio('POST', `/streams/${streamId}/request-winners`);
      return [
        [early, 409],
        [await fixture.send('recordWinner', request), 204],
      ];
    },
    readInterval: async () => {
      const { streamId, viewer, quiz } = await fixture.createShow();
      const from = service.interval();
      const request = (interval: number | string, headers: Record<string, string> = {}) =>
        fixture.send('readInterval', {
          params: { stream_id: streamId },
          query: `?interval=${interval}`,
          authorization: bearer(viewer),
          headers,
        });
      const post = (body: object) => viewer.post(`/api/v1/events-streams/${streamId}/chats`, body);
      for (const kind of ['message', 'question', 'greeting', 'cheer']) {
        await post({ kind, text: 'Hello', name: 'Ada' });
      }
      await post({ kind: 'heart', count: 5 });
      for (const event of [
        { type: 'purchase', data: { text: 'two mugs' } },
        { type: 'discount', data: { count: 2 } },
        { type: 'lights', data: { colour: 'red' } },
        { type: 'dark', data: null },
      ]) {
        await service.studio('POST', `/streams/${streamId}/events`, event);
      }
      await viewer.post(`/api/v1/view-counts/${streamId}`);
      await service.advance(quiz.closeInterval - from + 1);
      await service.studio('POST', `/quizzes/${quiz.id}/reveal`);
      await service.studio('POST', `/streams/${streamId}/request-winners`);
      await service.advance(6);
      const types = new Set<string>();
      const responses: CheckedResponse[] = [];
      for (let interval = from; interval < service.interval(); interval++) {
        const response = await request(interval);
        const { events } = (await response.clone().json()) as { events: { type: string }[] };
        for (const { type } of events) types.add(type);
        responses.push([response, 200]);
      }
      const all = ['chats', 'dark', 'lights', 'quiz', 'quiz-results', 'quiz-winners'];
      expect([...types].sort()).toEqual([...all, 'request-quiz-winners', 'view-count']);
      const etag = responses[0]?.[0].headers.get('etag') ?? '';
      const stream = await request(from, { Accept: 'text/event-stream' });
      expect(stream.headers.get('content-type')).toStartWith('text/event-stream');
      await stream.body?.cancel();
      const wrong = await request('01');
      expect(await wrong.clone().json()).toHaveProperty('interval', service.interval());
      return [
        ...responses,
        [await request(from, { 'If-None-Match': etag }), 304],
        [stream, 200],
        [wrong, 400],
        [await request(service.interval() + 5), 400],
      ];
    },
    postChat: async () => {
      const { streamId, viewer } = await fixture.createShow();
      const post = (body: object) =>
        fixture.send('postChat', {
          params: { stream_id: streamId },
          authorization: bearer(viewer),
          body,
        });
      return [
        [await post({ kind: 'message', text: 'Hello', name: 'Ada' }), 204],
        [await post({ kind: 'heart' }), 204],
        [await post({ kind: 'purchase', text: 'two mugs' }), 400],
        ...(await moderatedChatResponses(fixture)),
      ];
    },
  };
}
