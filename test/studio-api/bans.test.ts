import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { RestrictedViewer } from '../../protocol/moderation.ts';
import {
  ModeratedChat,
  passMs,
  postChat,
  sendHearts,
  viewerIdOf,
} from '../support/chat/moderated-chat.ts';
import { EventReader } from '../support/conformance/event-source.ts';
import { expectProblem, expectUnauthorized } from '../support/conformance/expectations.ts';
import { eventsFrom } from '../support/conformance/feed-viewer.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { answer } from '../support/conformance/quiz-show.ts';
import { rawExchange, rawHead, responseOf } from '../support/conformance/raw-http.ts';
import { requestToken } from '../support/conformance/viewer-routes.ts';
import {
  expectJson,
  type Harness,
  QUIZ,
  startService,
  type TestViewer,
  viewerWith,
} from '../support/harness/harness.ts';

describe.each(['embedded', 'shared'] as const)('mutes and bans on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends, config: { rates: HIGH_RATES } });
    await service.advance(1);
  }, 30_000);
  afterAll(() => service.close());

  const open = () => ModeratedChat.open(service);
  const heartbeat = async (viewer: TestViewer) =>
    (await viewer.post(`/api/v1/view-counts/${viewer.streamId}`)).status;
  const countOf = async (viewer: TestViewer) => {
    const response = await viewer.get(`/api/v1/view-counts/${viewer.streamId}`);
    return (await expectJson<{ value: number }>(response, 200)).value;
  };
  const tokenFor = (streamId: string, identifier: string) =>
    requestToken(service.url, { stream_id: streamId, unique_user_identifier: identifier });

  test('[C-18] a muted viewer cannot post until the mute ends or is lifted', async () => {
    const chat = await open();
    const { viewer } = chat;
    const other = await service.viewer(viewer.streamId);
    const at = service.clock.nowMs();
    const until = at + 60_000;
    const muted = await chat.create<RestrictedViewer>(chat.mutePath, { minutes: 1, name: 'Ada' });
    const ofAda = { viewer: viewerIdOf(viewer), name: 'Ada', kind: 'muted', by: null } as const;
    expect(muted).toEqual({ ...ofAda, until, at });
    for (const refused of [await postChat(viewer), await sendHearts(viewer)]) {
      expect(await expectProblem(refused, 409)).toMatchObject({ muted: true, until });
    }
    expect([await heartbeat(viewer), (await postChat(other)).status]).toEqual([204, 204]);
    await passMs(service, 60_000);
    expect((await postChat(viewer)).status).toBe(204);
    expect(await chat.listRestricted()).toEqual([]);
    await chat.create(chat.mutePath, { minutes: 1, name: 'Ada' });
    const forGood = await chat.create<RestrictedViewer>(chat.mutePath);
    expect(forGood).toEqual({ ...ofAda, until: null, at: at + 60_000 });
    await passMs(service, 300_000);
    expect(await expectProblem(await postChat(viewer), 409)).toHaveProperty('until', null);
    await chat.lift(chat.mutePath);
    await chat.lift(chat.mutePath);
    expect((await postChat(viewer)).status).toBe(204);
    for (const body of [{ minutes: 0 }, { minutes: 1_441 }, { minutes: 1.5 }, { name: '' }]) {
      await expectProblem(await chat.call('POST', chat.mutePath, body), 400);
    }
  });

  test('[C-18] a mute or ban of an unknown viewer gets 404', async () => {
    const chat = await open();
    const foreignViewer = viewerIdOf(await service.viewer(await service.createStream()));
    for (const kind of ['chat/muted', 'banned']) {
      for (const unknown of [foreignViewer, 'x', '%00', `${viewerIdOf(chat.viewer)}x`]) {
        for (const method of ['POST', 'DELETE']) {
          await expectProblem(await chat.call(method, `/${kind}/${unknown}`), 404);
        }
      }
    }
    expect(await chat.listRestricted()).toEqual([]);
  });

  test('[C-19] a banned viewer is rejected everywhere and gets no new token', async () => {
    const chat = await open();
    const { viewer } = chat;
    const { streamId } = viewer;
    const quiz = await service.publishQuiz(streamId);
    await chat.create(chat.banPath, { name: 'Ada' });
    const refused = [
      await viewer.post(`/api/v1/view-counts/${streamId}`),
      await viewer.get(`/api/v1/view-counts/${streamId}`),
      await viewer.get(`/api/v1/events-streams/${streamId}?interval=${service.interval() - 1}`),
      await answer(viewer, quiz),
      await viewer.post(`/api/v1/quizzes/${streamId}/record-winner`),
      await postChat(viewer),
    ];
    for (const response of refused) {
      expect(await response.clone().json()).toHaveProperty('banned', true);
      await expectUnauthorized(response, 'Bearer');
    }
    for (const response of [
      await viewer.get(`/api/v1/streams/${streamId}/`),
      await tokenFor(streamId, 'ada'),
    ]) {
      expect(await response.clone().json()).toHaveProperty('banned', true);
      await expectUnauthorized(response, 'Token');
    }
    // Other viewers of this and of other streams are not affected.
    expect(await heartbeat(await service.viewer(streamId, 'bob'))).toBe(204);
    expect(await heartbeat(await service.viewer(await service.createStream(), 'ada'))).toBe(204);
    await chat.lift(chat.banPath);
    expect([await heartbeat(viewer), (await tokenFor(streamId, 'ada')).status]).toEqual([204, 200]);
  });

  test('[C-19] a request that began before a ban has no effect after it', async () => {
    const chat = await open();
    const { streamId, token } = chat.viewer;
    const { id, closeInterval } = await service.publishQuiz(streamId);
    const sendSlowly = async (path: string, request: object) => {
      const body = JSON.stringify(request);
      const head = rawHead(`POST /api/v1/${path}`, {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
      });
      const parts = [head + body.slice(0, 1), 1_000, body.slice(1)];
      return responseOf(await rawExchange(service.url, parts, { waitMs: 3_000 }));
    };
    const answered = [
      sendSlowly(`events-streams/${streamId}/chats`, { kind: 'message', text: 'I am still here!' }),
      sendSlowly(`quizzes/${id}/answer`, { streamId, choice: QUIZ.answer, closeInterval }),
    ];
    await Bun.sleep(100);
    await chat.create(chat.banPath);
    for (const refused of await Promise.all(answered)) {
      expect(await refused.clone().json()).toHaveProperty('banned', true);
      await expectUnauthorized(refused, 'Bearer');
    }
  });

  test('[C-19] a ban ends event streams of the viewer and no others', async () => {
    const chat = await open();
    const other = await service.viewer(chat.viewer.streamId, 'bob');
    const follow = async ({ streamId, get }: TestViewer) => {
      const path = `/api/v1/events-streams/${streamId}?interval=${service.interval()}`;
      return new EventReader(await get(path, { Accept: 'text/event-stream' }));
    };
    const [banned, unaffected] = [await follow(chat.viewer), await follow(other)];
    await chat.create(chat.banPath);
    expect(await banned.ended(3_000)).toBe(true);
    await service.advance(1);
    expect(await unaffected.next(3_000)).not.toBeNull();
    await unaffected.close();
  });

  test('[C-19] [I-5] a banned viewer is not counted from the next interval until the ban is lifted', async () => {
    const chat = await open();
    const { viewer } = chat;
    const others = [];
    for (const name of ['bob', 'eve']) others.push(await service.viewer(viewer.streamId, name));
    const [bob] = others as [TestViewer, TestViewer];
    for (const each of [viewer, ...others]) expect(await heartbeat(each)).toBe(204);
    expect(await countOf(bob)).toBe(3);
    await service.advance(2);
    for (const each of [viewer, ...others]) expect(await heartbeat(each)).toBe(204);
    await chat.create(chat.banPath);
    await service.advance(1);
    expect(await countOf(bob)).toBe(2);
    await chat.lift(chat.banPath);
    expect(await heartbeat(viewer)).toBe(204);
    expect(await countOf(bob)).toBe(3);
    await chat.create(chat.banPath);
    const from = service.interval();
    await service.advance(4);
    const events = await eventsFrom(service, bob, from);
    expect(events.filter(({ type }) => type === 'view-count')).toMatchObject([
      { data: { value: 2 } },
    ]);
  });

  test('[C-14] [C-19] mutes, bans and modes survive a restart', async () => {
    const { clock } = service;
    const options = { backends, directory: join(service.directory, 'restarted'), clock };
    const before = await startService(options);
    const chat = await ModeratedChat.open(before);
    const { streamId, token } = chat.viewer;
    await chat.create(chat.banPath);
    await chat.patchMode({ paused: true });
    await before.close();
    const after = await startService(options);
    expect(await heartbeat(viewerWith(after.url, streamId, token))).toBe(401);
    expect((await postChat(await after.viewer(streamId, 'bob'))).status).toBe(409);
    await after.close();
  });

  test('[C-20] restricted viewers are listed, newest first', async () => {
    const chat = await open();
    const bob = await service.viewer(chat.viewer.streamId, 'bob');
    await chat.create(chat.mutePath, { minutes: 5 });
    await passMs(service, 1_000);
    await chat.create(chat.banPath, { name: 'Ada' });
    await passMs(service, 1_000);
    await chat.create(`/banned/${viewerIdOf(bob)}`, { name: 'Bob' });
    const listed = (await chat.listRestricted()).map(({ name, kind }) => [name, kind]);
    expect(listed).toEqual([
      ['Bob', 'banned'],
      ['Ada', 'banned'],
      ['', 'muted'],
    ]);
  });
});
