import { randomUUID } from 'node:crypto';
import { postChat, sendMessage, viewerIdOf } from '../chat/moderated-chat.ts';
import { bearer, type CheckedResponse, type Exercises, type Fixture } from './fixture.ts';

const UNKNOWN_VIEWER = 'nobodynobodynobodynobo';

/** The operations of chat moderation. */
export function moderationExercises(fixture: Fixture): Exercises {
  const { service } = fixture;

  async function chat() {
    const { streamId, viewer } = await fixture.openShow();
    const message = await sendMessage(service, viewer, { kind: 'question', name: 'Ada' });
    return {
      params: { stream_id: streamId, viewer: viewerIdOf(viewer), line_id: message.id },
      viewer,
      message,
    };
  }

  async function onViewer(
    operationId: string,
    status: number,
    body?: object,
  ): Promise<CheckedResponse[]> {
    const { params } = await chat();
    return [
      [await fixture.studio(operationId, { params }), status],
      [await fixture.studio(operationId, { params, body }), status],
      [await fixture.studio(operationId, { params: { ...params, viewer: UNKNOWN_VIEWER } }), 404],
    ];
  }

  return {
    patchChatMode: async () => [
      ...(await fixture.inStream('patchChatMode', { body: { slowModeMs: 1_000 } }, 200)),
      ...(await fixture.inStream('patchChatMode', { body: {} }, 400)),
    ],
    hideChatLines: async () =>
      fixture.inStream('hideChatLines', { body: { ids: [randomUUID(), 'p7'] } }, 201),
    pinChatLine: async () => {
      const { params, message } = await chat();
      const request = { params, body: { line: message } };
      const pinned = await fixture.studio('pinChatLine', request);
      const unpinned = await fixture.studio('pinChatLine', { params, body: { line: null } });
      await fixture.studio('hideChatLines', { params, body: { ids: [message.id] } });
      const unsent = { line: { ...message, id: randomUUID() } };
      return [
        [pinned, 201],
        [unpinned, 201],
        [await fixture.studio('pinChatLine', request), 409],
        [await fixture.studio('pinChatLine', { params, body: unsent }), 404],
      ];
    },
    muteViewer: async () => onViewer('muteViewer', 201, { minutes: 1, name: 'Ada' }),
    unmuteViewer: async () => onViewer('unmuteViewer', 204),
    banViewer: async () => onViewer('banViewer', 201, { name: 'Ada' }),
    unbanViewer: async () => onViewer('unbanViewer', 204),
    listRestricted: async () => {
      const { params } = await chat();
      await fixture.studio('muteViewer', { params, body: { minutes: 1, name: 'Ada' } });
      await fixture.studio('banViewer', { params });
      return [
        ...(await fixture.inStream('listRestricted', {}, 200)),
        [await fixture.studio('listRestricted', { params }), 200],
      ];
    },
    queueQuestion: async () => {
      const { params, message } = await chat();
      const request = (body: object) => fixture.studio('queueQuestion', { params, body });
      return [
        [await request({ state: 'open', line: message }), 201],
        [await request({ state: 'answered', line: message }), 201],
        [await request({ state: 'gone', line: message }), 400],
        [await request({ state: 'open', line: { ...message, id: randomUUID() } }), 404],
      ];
    },
    listQuestions: async () => {
      const { params, message } = await chat();
      await fixture.studio('queueQuestion', { params, body: { state: 'open', line: message } });
      return [
        ...(await fixture.inStream('listQuestions', {}, 200)),
        [await fixture.studio('listQuestions', { params, query: '?state=open' }), 200],
        [await fixture.studio('listQuestions', { params, query: '?state=shut' }), 400],
      ];
    },
  };
}

/** Viewer responses in a moderated chat. */
export async function moderatedChatResponses(fixture: Fixture): Promise<CheckedResponse[]> {
  const { streamId, viewer } = await fixture.openShow();
  const params = { stream_id: streamId, viewer: viewerIdOf(viewer) };
  const message = await sendMessage(fixture.service, viewer);
  const from = fixture.service.interval();
  await fixture.studio('pinChatLine', { params, body: { line: message } });
  await fixture.studio('hideChatLines', { params, body: { ids: [randomUUID()] } });
  await fixture.studio('patchChatMode', { params, body: { slowModeMs: 10_000, paused: true } });
  await fixture.service.advance(1);
  const authorization = bearer(viewer);
  const events = await fixture.send('readInterval', {
    params,
    query: `?interval=${from}`,
    authorization,
  });
  const posted = () => fixture.send('postChat', { params, body: { kind: 'heart' }, authorization });
  const paused = await posted();
  const late = await fixture.send('readStream', { params, authorization });
  await fixture.studio('patchChatMode', { params, body: { paused: false } });
  await fixture.studio('muteViewer', { params });
  const muted = await posted();
  await fixture.studio('unmuteViewer', { params });
  await postChat(viewer);
  const secondMessage = { kind: 'message', text: 'Too soon' };
  const slowed = await fixture.send('postChat', { params, body: secondMessage, authorization });
  await fixture.studio('banViewer', { params });
  return [
    [events, 200],
    [paused, 409],
    [late, 200],
    [muted, 409],
    [slowed, 429],
    [await fixture.send('registerView', { params, authorization }), 401],
  ];
}
