import { randomUUID } from 'node:crypto';
import { idOf, post, sentLine } from '../chat/moderated-chat.ts';
import { type Answered, bearer, type Exercises, type Fixture } from './fixture.ts';

const NOBODY = 'nobodynobodynobodynobo';

/** The operations by which the chat of a show is kept in order. */
export function moderationExercises(fixture: Fixture): Exercises {
  const { service } = fixture;

  async function chat() {
    const { streamId, viewer } = await fixture.show();
    const line = await sentLine(service, viewer, { kind: 'question', name: 'Ada' });
    return {
      params: { stream_id: streamId, viewer: idOf(viewer), line_id: line.id },
      viewer,
      line,
    };
  }

  async function onViewer(operationId: string, status: number, body?: object): Promise<Answered[]> {
    const { params } = await chat();
    return [
      [await fixture.studio(operationId, { params }), status],
      [await fixture.studio(operationId, { params, body }), status],
      [await fixture.studio(operationId, { params: { ...params, viewer: NOBODY } }), 404],
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
      const { params, line } = await chat();
      const ask = { params, body: { line } };
      const pinned = await fixture.studio('pinChatLine', ask);
      const unpinned = await fixture.studio('pinChatLine', { params, body: { line: null } });
      await fixture.studio('hideChatLines', { params, body: { ids: [line.id] } });
      const unsent = { line: { ...line, id: randomUUID() } };
      return [
        [pinned, 201],
        [unpinned, 201],
        [await fixture.studio('pinChatLine', ask), 409],
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
      const { params, line } = await chat();
      const ask = (body: object) => fixture.studio('queueQuestion', { params, body });
      return [
        [await ask({ state: 'open', line }), 201],
        [await ask({ state: 'answered', line }), 201],
        [await ask({ state: 'gone', line }), 400],
        [await ask({ state: 'open', line: { ...line, id: randomUUID() } }), 404],
      ];
    },
    listQuestions: async () => {
      const { params, line } = await chat();
      await fixture.studio('queueQuestion', { params, body: { state: 'open', line } });
      return [
        ...(await fixture.inStream('listQuestions', {}, 200)),
        [await fixture.studio('listQuestions', { params, query: '?state=open' }), 200],
        [await fixture.studio('listQuestions', { params, query: '?state=shut' }), 400],
      ];
    },
  };
}

/** What viewers are told of a chat that is kept in order. */
export async function moderated(fixture: Fixture): Promise<Answered[]> {
  const { streamId, viewer } = await fixture.show();
  const params = { stream_id: streamId, viewer: idOf(viewer) };
  const line = await sentLine(fixture.service, viewer);
  const from = fixture.service.interval();
  await fixture.studio('pinChatLine', { params, body: { line } });
  await fixture.studio('hideChatLines', { params, body: { ids: [randomUUID()] } });
  await fixture.studio('patchChatMode', { params, body: { slowModeMs: 10_000, paused: true } });
  await fixture.service.advance(1);
  const authorization = bearer(viewer);
  const told = await fixture.ask('readInterval', {
    params,
    query: `?interval=${from}`,
    authorization,
  });
  const posted = () => fixture.ask('postChat', { params, body: { kind: 'heart' }, authorization });
  const paused = await posted();
  const late = await fixture.ask('readStream', { params, authorization });
  await fixture.studio('patchChatMode', { params, body: { paused: false } });
  await fixture.studio('muteViewer', { params });
  const muted = await posted();
  await fixture.studio('unmuteViewer', { params });
  await post(viewer);
  const line2 = { kind: 'message', text: 'Too soon' };
  const slowed = await fixture.ask('postChat', { params, body: line2, authorization });
  await fixture.studio('banViewer', { params });
  return [
    [told, 200],
    [paused, 409],
    [late, 200],
    [muted, 409],
    [slowed, 429],
    [await fixture.ask('registerView', { params, authorization }), 401],
  ];
}
