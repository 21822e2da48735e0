import { randomUUID } from 'node:crypto';
import { postChat, sendMessage, viewerIdOf } from '../chat/moderated-chat.ts';
import { bearer, type CheckedResponse, type Exercises, type Fixture } from './fixture.ts';

const UNKNOWN_VIEWER = 'nobodynobodynobodynobo';

/** The operations of chat moderation. */
export function moderationExercises(fixture: Fixture): Exercises {
  const { service } = fixture;

  async function createChat() {
    const { streamId, viewer } = await fixture.createShow();
    const message = await sendMessage(service, viewer, { kind: 'question', name: 'Ada' });
    return {
      params: { stream_id: streamId, viewer: viewerIdOf(viewer), line_id: message.id },
      viewer,
      message,
    };
  }

  async function callForViewer(
    operationId: string,
    status: number,
    body?: object,
  ): Promise<CheckedResponse[]> {
    const { params } = await createChat();
    return [
      [await fixture.sendAsAccount(operationId, { params }), status],
      [await fixture.sendAsAccount(operationId, { params, body }), status],
      [
        await fixture.sendAsAccount(operationId, { params: { ...params, viewer: UNKNOWN_VIEWER } }),
        404,
      ],
    ];
  }

  return {
    patchChatMode: async () => [
      ...(await fixture.sendInStream('patchChatMode', { body: { slowModeMs: 1_000 } }, 200)),
      ...(await fixture.sendInStream('patchChatMode', { body: {} }, 400)),
    ],
    hideChatLines: async () =>
      fixture.sendInStream('hideChatLines', { body: { ids: [randomUUID(), 'p7'] } }, 201),
    pinChatLine: async () => {
      const { params, message } = await createChat();
      const request = { params, body: { line: message } };
      const pinned = await fixture.sendAsAccount('pinChatLine', request);
      const unpinned = await fixture.sendAsAccount('pinChatLine', { params, body: { line: null } });
      await fixture.sendAsAccount('hideChatLines', { params, body: { ids: [message.id] } });
      const unsent = { line: { ...message, id: randomUUID() } };
      return [
        [pinned, 201],
        [unpinned, 201],
        [await fixture.sendAsAccount('pinChatLine', request), 409],
        [await fixture.sendAsAccount('pinChatLine', { params, body: unsent }), 404],
      ];
    },
    muteViewer: async () => callForViewer('muteViewer', 201, { minutes: 1, name: 'Ada' }),
    unmuteViewer: async () => callForViewer('unmuteViewer', 204),
    banViewer: async () => callForViewer('banViewer', 201, { name: 'Ada' }),
    unbanViewer: async () => callForViewer('unbanViewer', 204),
    listRestricted: async () => {
      const { params } = await createChat();
      await fixture.sendAsAccount('muteViewer', { params, body: { minutes: 1, name: 'Ada' } });
      await fixture.sendAsAccount('banViewer', { params });
      return [
        ...(await fixture.sendInStream('listRestricted', {}, 200)),
        [await fixture.sendAsAccount('listRestricted', { params }), 200],
      ];
    },
    queueQuestion: async () => {
      const { params, message } = await createChat();
      const request = (body: object) => fixture.sendAsAccount('queueQuestion', { params, body });
      return [
        [await request({ state: 'open', line: message }), 201],
        [await request({ state: 'answered', line: message }), 201],
        [await request({ state: 'gone', line: message }), 400],
        [await request({ state: 'open', line: { ...message, id: randomUUID() } }), 404],
      ];
    },
    listQuestions: async () => {
      const { params, message } = await createChat();
      await fixture.sendAsAccount('queueQuestion', {
        params,
        body: { state: 'open', line: message },
      });
      return [
        ...(await fixture.sendInStream('listQuestions', {}, 200)),
        [await fixture.sendAsAccount('listQuestions', { params, query: '?state=open' }), 200],
        [await fixture.sendAsAccount('listQuestions', { params, query: '?state=shut' }), 400],
      ];
    },
  };
}

/** Viewer responses in a moderated chat. */
export async function moderatedChatResponses(fixture: Fixture): Promise<CheckedResponse[]> {
  const { streamId, viewer } = await fixture.createShow();
  const params = { stream_id: streamId, viewer: viewerIdOf(viewer) };
  const message = await sendMessage(fixture.service, viewer);
  const from = fixture.service.interval();
  await fixture.sendAsAccount('pinChatLine', { params, body: { line: message } });
  await fixture.sendAsAccount('hideChatLines', { params, body: { ids: [randomUUID()] } });
  await fixture.sendAsAccount('patchChatMode', {
    params,
    body: { slowModeMs: 10_000, paused: true },
  });
  await fixture.service.advance(1);
  const authorization = bearer(viewer);
  const events = await fixture.send('readInterval', {
    params,
    query: `?interval=${from}`,
    authorization,
  });
  const post = () => fixture.send('postChat', { params, body: { kind: 'heart' }, authorization });
  const paused = await post();
  const stream = await fixture.send('readStream', { params, authorization });
  await fixture.sendAsAccount('patchChatMode', { params, body: { paused: false } });
  await fixture.sendAsAccount('muteViewer', { params });
  const muted = await post();
  await fixture.sendAsAccount('unmuteViewer', { params });
  await postChat(viewer);
  const secondMessage = { kind: 'message', text: 'Too soon' };
  const slowed = await fixture.send('postChat', { params, body: secondMessage, authorization });
  await fixture.sendAsAccount('banViewer', { params });
  return [
    [events, 200],
    [paused, 409],
    [stream, 200],
    [muted, 409],
    [slowed, 429],
    [await fixture.send('registerView', { params, authorization }), 401],
  ];
}
