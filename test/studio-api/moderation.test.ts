import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { ChatLog } from '../../protocol/history.ts';
import {
  ModeratedChat,
  newestMessage,
  passMs,
  postChat,
  sendHearts,
  sendMessage,
  viewerIdOf,
} from '../support/chat/moderated-chat.ts';
import { expectMembers, expectProblem } from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { expectJson, type Harness, startService } from '../support/harness/harness.ts';
import { newMember } from '../support/studio/user-agent.ts';

describe.each(['embedded', 'shared'] as const)('a moderated chat on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends, config: { rates: HIGH_RATES } });
    await service.advance(1);
  }, 30_000);
  afterAll(() => service.close());

  const open = () => ModeratedChat.open(service);

  test('[C-12] producers cannot send events of the types of the chat', async () => {
    const chat = await open();
    for (const type of ['chat-mode', 'chat-hidden', 'chat-pinned']) {
      await expectProblem(await chat.call('POST', '/events', { type, data: null }), 400);
    }
  });

  test('[C-12] the chat can be changed before and after the show', async () => {
    const chat = await open();
    const events = await chat.eventsDuring(async () => {
      await chat.patchMode({ paused: true });
      await expectJson(await chat.call('POST', '/end'), 200);
      await chat.patchMode({ paused: false });
    });
    expect(events).toHaveLength(2);
  });

  test('[C-13] the chat publishes its mode only when it changes', async () => {
    const chat = await open();
    const events = await chat.eventsDuring(async () => {
      expect(await chat.patchMode({ slowModeMs: 5_000 })).toEqual({
        slowModeMs: 5_000,
        paused: false,
      });
      await chat.patchMode({ slowModeMs: 5_000, paused: false });
      expect(await chat.patchMode({ paused: true })).toEqual({ slowModeMs: 5_000, paused: true });
    });
    expect(events).toEqual([
      { type: 'chat-mode', data: { slowModeMs: 5_000, paused: false } },
      { type: 'chat-mode', data: { slowModeMs: 5_000, paused: true } },
    ]);
    for (const body of [{}, { slowModeMs: -1 }, { slowModeMs: 300_001 }, { paused: 1 }]) {
      await expectProblem(await chat.call('PATCH', '/chat', body), 400);
    }
  });

  test('[C-13] a repeated change of the mode is applied once', async () => {
    const chat = await open();
    const headers = { 'Idempotency-Key': randomUUID() };
    const path = `/streams/${chat.viewer.streamId}/chat`;
    const pause = () => service.studio('PATCH', path, { paused: true }, { headers });
    const events = await chat.eventsDuring(async () => {
      await expectJson(await pause(), 200);
      await chat.patchMode({ paused: false });
      expect(await expectJson<object>(await pause(), 200)).toMatchObject({ paused: true });
    });
    expect(events.map(({ data }) => data)).toMatchObject([{ paused: true }, { paused: false }]);
    expect((await postChat(chat.viewer)).status).toBe(204);
  });

  test('[C-14] the chat rejects every post with 409 while it is paused', async () => {
    const chat = await open();
    await chat.patchMode({ paused: true });
    for (const refused of [await postChat(chat.viewer), await sendHearts(chat.viewer)]) {
      expect(await expectProblem(refused, 409)).toHaveProperty('paused', true);
    }
    await chat.patchMode({ paused: false });
    expect((await postChat(chat.viewer)).status).toBe(204);
  });

  test('[C-15] the chat rejects messages of a viewer with 429 in slow mode, but not hearts', async () => {
    const chat = await open();
    const { viewer } = chat;
    const other = await service.viewer(viewer.streamId);
    expect((await postChat(viewer)).status).toBe(204);
    await chat.patchMode({ slowModeMs: 10_000 });
    expect((await postChat(viewer)).status).toBe(204);
    await passMs(service, 7_500);
    const early = await postChat(viewer, { kind: 'cheer' });
    expect(early.headers.get('retry-after')).toBe('3');
    await expectProblem(early, 429);
    expect((await sendHearts(viewer)).status).toBe(204);
    expect((await postChat(other)).status).toBe(204);
    await passMs(service, 2_500);
    await expectProblem(await postChat(viewer, { text: '' }), 400);
    expect((await postChat(viewer)).status).toBe(204);
    // A shorter period also applies to viewers who wait for a longer one.
    await chat.patchMode({ slowModeMs: 1_000 });
    await passMs(service, 1_000);
    expect((await postChat(viewer)).status).toBe(204);
    await chat.patchMode({ slowModeMs: 0 });
    for (let n = 0; n < 3; n++) expect((await postChat(viewer)).status).toBe(204);
  });

  test('[C-16] [B-10] the chat publishes hidden messages once and marks them in the log', async () => {
    const chat = await open();
    const first = await sendMessage(service, chat.viewer, { text: 'First' });
    const second = await sendMessage(service, chat.viewer, { text: 'Second' });
    const hide = (ids: unknown[]) => chat.call('POST', '/chat/hidden', { ids });
    const events = await chat.eventsDuring(async () => {
      expect(await expectJson<object>(await hide([first.id]), 201)).toEqual({ ids: [first.id] });
      for (const ids of [[first.id, second.id], [second.id]])
        await expectJson(await hide(ids), 201);
    });
    expect(events).toEqual([
      { type: 'chat-hidden', data: { ids: [first.id] } },
      { type: 'chat-hidden', data: { ids: [second.id] } },
    ]);
    const third = await sendMessage(service, chat.viewer, { text: 'Third' });
    const log = await expectJson<ChatLog>(await chat.call('GET', '/chat'), 200);
    expect(log.results.map(({ id, hidden }) => [id, hidden])).toEqual([
      [third.id, false],
      [second.id, true],
      [first.id, true],
    ]);
    const many = Array.from({ length: 101 }, () => randomUUID());
    for (const wrong of [[], many, [first.id, first.id], ['a b'], ['%'], [7]]) {
      await expectProblem(await hide(wrong), 400);
    }
  });

  test('[C-16] [C-17] the chat publishes a pinned message and unpins it when it is hidden', async () => {
    const chat = await open();
    const line = await sendMessage(service, chat.viewer, { kind: 'question', name: 'Ada' });
    expectMembers(line, ['id', 'viewer', 'name', 'text', 'kind', 'at']);
    const events = await chat.eventsDuring(async () => {
      expect(await chat.create<object>('/chat/pin', { line })).toEqual({ line });
      await chat.create('/chat/pin', { line });
      await chat.create('/chat/hidden', { ids: [line.id] });
      expect((await chat.readViewerChat()).pinned).toBeNull();
      await expectProblem(await chat.call('POST', '/chat/pin', { line }), 409);
      await chat.create('/chat/pin', { line: null });
    });
    expect(events).toEqual([
      { type: 'chat-pinned', data: { line } },
      { type: 'chat-hidden', data: { ids: [line.id] } },
      { type: 'chat-pinned', data: { line: null } },
    ]);
  });

  test('[C-17] a message is pinned as it was sent, also a purchase', async () => {
    const chat = await open();
    const pin = (line: object) => chat.call('POST', '/chat/pin', { line });
    const line = await sendMessage(service, chat.viewer, { text: 'I said "so"' });
    const forged = { ...line, text: 'I never said so', name: 'The host' };
    expect(await expectJson<object>(await pin(forged), 201)).toEqual({ line });
    // An earlier event of the producer that looks as if it contained the message.
    const lookalikes = ['p1', 'p2'].map((id) => ({ id, text: 'x' }));
    const looks = { type: 'look', data: { a: lookalikes } };
    await expectJson(await chat.call('POST', '/events', looks), 201);
    await service.advance(1);
    const bought = { type: 'purchase', data: { name: 'Bob', text: 'a mug' } };
    await expectJson(await chat.call('POST', '/events', bought), 201);
    await service.advance(1);
    const purchase = await newestMessage(service, chat.viewer.streamId);
    const early = { ...purchase, at: purchase.at - 500 };
    expect(await expectJson<object>(await pin(early), 201)).toEqual({ line: purchase });
    for (const unsent of [
      { ...line, id: randomUUID() },
      { ...line, at: line.at - 120_000 },
      { ...line, at: line.at + 120_000 },
    ]) {
      await expectProblem(await pin(unsent), 404);
    }
    await expectProblem(await (await open()).call('POST', '/chat/pin', { line }), 404);
    for (const wrong of [
      { ...line, id: '%' },
      { ...line, viewer: 'x' },
      { ...line, more: 1 },
    ]) {
      await expectProblem(await pin(wrong), 400);
    }
  });

  test('[R-11] [R-12] [R-13] an idempotency key works for a pin and a question whose message was not sent', async () => {
    const chat = await open();
    const line = await sendMessage(service, chat.viewer);
    const unsent = { ...line, id: randomUUID() };
    const operations = [
      (message: typeof line) => ['/chat/pin', { line: message }] as const,
      (message: typeof line) =>
        [`/chat/questions/${message.id}`, { state: 'open', line: message }] as const,
    ];
    for (const requestOf of operations) {
      const headers = { 'Idempotency-Key': randomUUID() };
      const post = (message: typeof line) => {
        const [path, body] = requestOf(message);
        const url = `/streams/${chat.viewer.streamId}${path}`;
        return service.studio('POST', url, body, { headers });
      };
      await expectProblem(await post(unsent), 404);
      const first = await expectJson<object>(await post(line), 201);
      expect(await expectJson<object>(await post(line), 201)).toEqual(first);
      await expectProblem(await post(unsent), 409);
    }
  });

  test('[C-20] [L-19] a long queue of questions is listed whole, in the order of writing', async () => {
    const chat = await open();
    const QUESTIONS = 210;
    const queued: string[] = [];
    for (let n = 0; n < QUESTIONS; n++) {
      const line = await sendMessage(service, chat.viewer, { kind: 'question', text: `“${n}” 🙂` });
      await expectJson(
        await chat.call('POST', `/chat/questions/${line.id}`, { state: 'open', line }),
        201,
      );
      queued.push(line.id);
      await passMs(service, 250);
    }
    const listed = await chat.listQuestions();
    expect(listed.map(({ line }) => line.id)).toEqual(queued);
  });

  test('[C-20] the chat has one queue of questions for all, in the order of writing', async () => {
    const chat = await open();
    const { viewer } = chat;
    const question = { kind: 'question' };
    const first = await sendMessage(service, viewer, { ...question, text: 'Why?' });
    const second = await sendMessage(service, viewer, { ...question, text: 'How?' });
    const queue = (line: typeof first, state: string) =>
      chat.call('POST', `/chat/questions/${line.id}`, { state, line });
    const at = service.clock.nowMs();
    expect(await expectJson<object>(await queue(second, 'open'), 201)).toEqual({
      ...{ state: 'open', line: second, by: null, at },
    });
    const forged = { ...first, text: 'Who are you?' };
    await expectJson(await queue(forged, 'open'), 201);
    await passMs(service, 1_000);
    await expectJson(await queue(second, 'open'), 201);
    const answered = { state: 'answered', line: second, by: null, at: at + 1_000 };
    const waiting = { state: 'open', line: first, by: null, at };
    expect(await expectJson<object>(await queue(second, 'answered'), 201)).toEqual(answered);
    expect(await chat.listQuestions()).toEqual([waiting, answered] as never);
    expect(await chat.listQuestions('?state=answered')).toEqual([answered] as never);
    expect(await chat.listQuestions('?state=dismissed')).toEqual([]);
    const path = `/chat/questions/${first.id}`;
    const refused: [object, number][] = [
      [{ state: 'closed', line: first }, 400],
      [{ state: 'open' }, 400],
      [{ state: 'open', line: second }, 404],
    ];
    for (const [body, status] of refused) {
      await expectProblem(await chat.call('POST', path, body), status);
    }
    const unsent = { ...first, id: randomUUID() };
    await expectProblem(await queue(unsent, 'open'), 404);
  });

  test('[C-18] [C-20] a mute and a queued question have the name of the moderator', async () => {
    const chat = await open();
    const line = await sendMessage(service, chat.viewer, { kind: 'question' });
    const { browser } = await newMember(service, 'moderator');
    const path = `/streams/${chat.viewer.streamId}`;
    const queued = { state: 'dismissed', line };
    for (const [to, body] of [
      [`${path}/chat/questions/${line.id}`, queued],
      [`${path}${chat.mutePath}`, {}],
    ] as const) {
      const made = await expectJson<object>(await browser.send('POST', to, body), 201);
      expect(made).toHaveProperty('by', 'A moderator');
    }
  });

  test('[C-22] the chat sends its state to a viewer who joins late, and to no other', async () => {
    const chat = await open();
    const untouched = { slow_mode_ms: 0, paused: false, pinned: null, hidden: [], recent: [] };
    expect(await chat.readViewerChat()).toEqual(untouched);
    const line = await sendMessage(service, chat.viewer);
    await chat.create('/chat/pin', { line });
    await chat.patchMode({ slowModeMs: 2_000, paused: true });
    const ids = Array.from({ length: 250 }, () => randomUUID());
    for (const at of [0, 100, 200]) {
      await chat.create('/chat/hidden', { ids: ids.slice(at, at + 100) });
    }
    const newest = ids.toReversed().slice(0, 200);
    expect(await chat.readViewerChat()).toEqual({
      ...{ slow_mode_ms: 2_000, paused: true, pinned: line, hidden: newest, recent: [line] },
    });
    const path = `/api/v1/streams/${chat.viewer.streamId}/`;
    const headers = { Authorization: `Token ${service.account.token}` };
    for (const init of [{}, { headers }]) {
      const other = await fetch(service.url + path, init);
      expect(await expectJson<object>(other, 200)).not.toHaveProperty('chat');
    }
  });

  test('[B-1] the chat sends its state to the studio, with a revision', async () => {
    const chat = await open();
    const line = await sendMessage(service, chat.viewer);
    const before = await chat.liveState();
    expect(before.chat).toEqual({ slowModeMs: 0, paused: false, pinned: null });
    expect(before.rundownRevision).toBe(0);
    await chat.create('/chat/pin', { line });
    await chat.patchMode({ slowModeMs: 2_000 });
    const after = await chat.liveState();
    expect(after.chat).toEqual({ slowModeMs: 2_000, paused: false, pinned: line });
    expect(after.chatRevision).toBe(before.chatRevision);
    let { chatRevision } = after;
    for (const change of [
      () => chat.create('/chat/hidden', { ids: [randomUUID()] }),
      () => chat.create(chat.mutePath),
      () => chat.lift(chat.mutePath),
      () => chat.create(`/chat/questions/${line.id}`, { state: 'open', line }),
    ]) {
      await change();
      const { chatRevision: next } = await chat.liveState();
      expect(next).toBeGreaterThan(chatRevision);
      chatRevision = next;
    }
    await service.publishQuiz(chat.viewer.streamId);
    expect((await chat.liveState()).rundownRevision).toBeGreaterThan(0);
    expect(viewerIdOf(chat.viewer)).toBe(line.viewer);
  });
});
