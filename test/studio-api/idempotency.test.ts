import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { StoredChatMessage } from '../../protocol/moderation.ts';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { ModeratedChat, sendMessage } from '../support/chat/moderated-chat.ts';
import { PRODUCT } from '../support/conformance/operations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson, QUIZ, startService } from '../support/harness/harness.ts';
import { newAskedWinner } from '../support/quizzes/asked-winner.ts';
import { inviteMember, newMember, tokenOf } from '../support/studio/user-agent.ts';

const service = await serviceOfFile();

const DAY_MS = 24 * 3600_000;
const keyed = (key: string, token?: string) => ({
  headers: { 'Idempotency-Key': key },
  ...(token !== undefined && { token }),
});

async function createDraft(): Promise<{ id: string; streamId: string }> {
  const streamId = await service.createStream();
  const response = await service.studio('POST', `/streams/${streamId}/quizzes`, QUIZ);
  return expectJson(response, 201);
}

async function createClosedQuiz(): Promise<{ id: string }> {
  const streamId = await service.createStream();
  const quiz = await service.publishQuiz(streamId, { reveal: 'manual', duration: 1_000 });
  await service.advance(quiz.closeInterval - service.interval() + 1);
  return quiz;
}

async function createApiToken(): Promise<{ id: string }> {
  return expectJson(await service.studio('POST', '/api-tokens', { name: 'laptop' }), 201);
}

async function createWebhook(): Promise<{ id: string }> {
  const body = { url: 'https://hooks.example.org/', events: ['stream.started'] };
  return expectJson(await service.studio('POST', '/webhooks', body), 201);
}

/** @returns the path of a round whose winners are asked for contact details */
async function askedRoundPath(): Promise<string> {
  return (await newAskedWinner(service, await service.createStream())).round.path;
}

/** @returns the path of a new product */
async function createProduct(): Promise<string> {
  const path = `/streams/${await service.createStream()}/products`;
  const response = await service.studio('POST', path, PRODUCT);
  return `${path}/${(await expectJson<{ id: string }>(response, 201)).id}`;
}

let rehearsedStreamId = '';

/** A new show for a rehearsal; ends the previous rehearsal, since a node has few. */
async function createShowToRehearse(): Promise<string> {
  await service.studio('DELETE', `/streams/${rehearsedStreamId}/rehearsals/current`);
  rehearsedStreamId = await service.createStream();
  return rehearsedStreamId;
}

interface Write {
  readonly path: string;
  readonly body?: object;
  /** Runs between the first request and its repeat, and would change the result of the repeat. */
  readonly between?: () => Promise<unknown>;
}

/** Writes to the chat of a separate show with a message. */
async function inChat(
  writeOf: (chat: ModeratedChat, line: StoredChatMessage) => Write,
): Promise<Write> {
  const chat = await ModeratedChat.open(service);
  const write = writeOf(chat, await sendMessage(service, chat.viewer));
  return { ...write, path: `/streams/${chat.viewer.streamId}${write.path}` };
}

/** Every write except those that return a secret, whose repeat gets 409. */
const WRITES: Record<string, () => Promise<Write>> = {
  withdrawInvitation: async () => ({
    path: `/invitations/${(await inviteMember(service, 'host')).id}`,
  }),
  patchMember: async () => {
    const path = `/members/${(await newMember(service, 'host')).uuid}`;
    const between = () => service.studio('PATCH', path, { role: 'owner' });
    return { path, body: { role: 'moderator' }, between };
  },
  removeMember: async () => ({ path: `/members/${(await newMember(service, 'host')).uuid}` }),
  revokeApiToken: async () => ({ path: `/api-tokens/${(await createApiToken()).id}` }),
  createStream: async () => ({ path: '/streams', body: { title: 'A show' } }),
  patchStream: async () => {
    const path = `/streams/${await service.createStream()}`;
    const between = () => service.studio('PATCH', path, { unlisted: true });
    return { path, body: { title: 'First' }, between };
  },
  startStream: async () => {
    const id = await service.createStream();
    const between = () => service.studio('POST', `/streams/${id}/end`);
    return { path: `/streams/${id}/start`, between };
  },
  endStream: async () => {
    const path = `/streams/${await service.createStream()}/end`;
    const between = () => service.studio('POST', path);
    return { path, body: { at: service.clock.nowMs() + 60_000 }, between };
  },
  reopenStream: async () => {
    const path = `/streams/${await service.createStream()}`;
    const end = () => service.studio('POST', `${path}/end`);
    await end();
    return { path: `${path}/reopen`, between: end };
  },
  rotateStreamKey: async () => {
    const path = `/streams/${await service.createStream()}/ingest/rotate-key`;
    return { path, between: () => service.studio('POST', path) };
  },
  createQuiz: async () => ({
    path: `/streams/${await service.createStream()}/quizzes`,
    body: QUIZ,
  }),
  patchQuiz: async () => {
    const path = `/quizzes/${(await createDraft()).id}`;
    const between = () => service.studio('PATCH', path, { duration: 9_000 });
    return { path, body: { question: 'First?' }, between };
  },
  orderQuizzes: async () => {
    const { id, streamId } = await createDraft();
    return { path: `/streams/${streamId}/rundown`, body: { order: [id] } };
  },
  duplicateQuiz: async () => ({ path: `/quizzes/${(await createDraft()).id}/duplicate` }),
  importQuizzes: async () => ({
    path: `/streams/${await service.createStream()}/quizzes/import`,
    body: { format: 'fourbeat-json', text: JSON.stringify([QUIZ, QUIZ]) },
  }),
  deleteQuiz: async () => ({ path: `/quizzes/${(await createDraft()).id}` }),
  publishQuiz: async () => ({ path: `/quizzes/${(await createDraft()).id}/publish` }),
  revealQuiz: async () => ({ path: `/quizzes/${(await createClosedQuiz()).id}/reveal` }),
  requestWinners: async () => ({
    path: `/streams/${await service.createStream()}/request-winners`,
  }),
  patchWebhook: async () => {
    const path = `/webhooks/${(await createWebhook()).id}`;
    const between = () => service.studio('PATCH', path, { events: ['winners'] });
    return { path, body: { enabled: false }, between };
  },
  deleteWebhook: async () => ({ path: `/webhooks/${(await createWebhook()).id}` }),
  testWebhook: async () => {
    const { id } = await createWebhook();
    const between = () => service.studio('PATCH', `/webhooks/${id}`, { enabled: false });
    return { path: `/webhooks/${id}/test`, between };
  },
  retryDelivery: async () => {
    const path = `/webhooks/${(await createWebhook()).id}`;
    const sent = await service.studio('POST', `${path}/test`);
    const { id } = await expectJson<{ id: string }>(sent, 201);
    const between = () => service.studio('PATCH', path, { enabled: false });
    return { path: `${path}/deliveries/${id}/retry`, between };
  },
  patchChatMode: () =>
    inChat((chat) => {
      const between = () => chat.patchMode({ paused: false });
      return { path: '/chat', body: { paused: true }, between };
    }),
  hideChatLines: () => inChat((_, { id }) => ({ path: '/chat/hidden', body: { ids: [id] } })),
  pinChatLine: () =>
    inChat((chat, line) => {
      const between = () => chat.create('/chat/pin', { line: null });
      return { path: '/chat/pin', body: { line }, between };
    }),
  queueQuestion: () =>
    inChat((chat, line) => {
      const path = `/chat/questions/${line.id}`;
      const between = () => chat.create(path, { state: 'answered', line });
      return { path, body: { state: 'open', line }, between };
    }),
  muteViewer: () =>
    inChat((chat) => ({ path: chat.mutePath, body: {}, between: () => chat.lift(chat.mutePath) })),
  unmuteViewer: () =>
    inChat((chat) => ({ path: chat.mutePath, between: () => chat.create(chat.mutePath, {}) })),
  banViewer: () =>
    inChat((chat) => ({ path: chat.banPath, body: {}, between: () => chat.lift(chat.banPath) })),
  unbanViewer: () =>
    inChat((chat) => ({ path: chat.banPath, between: () => chat.create(chat.banPath, {}) })),
  withdrawPresenterKey: async () => {
    const path = `/streams/${await service.createStream()}/presenter-key`;
    const make = () => service.studio('POST', path);
    await make();
    return { path, between: make };
  },
  createRehearsal: async () => {
    const path = `/streams/${await createShowToRehearse()}/rehearsals`;
    const between = () => service.studio('DELETE', `${path}/current`);
    return { path, body: { viewers: 1 }, between };
  },
  deleteRehearsal: async () => {
    const path = `/streams/${await createShowToRehearse()}/rehearsals`;
    const make = () => service.studio('POST', path, { viewers: 1 });
    await make();
    return { path: `${path}/current`, between: make };
  },
  requestContacts: async () => {
    const path = `${await askedRoundPath()}/contact-request`;
    const between = () => service.studio('DELETE', path);
    return { path, body: { note: 'Who are you?' }, between };
  },
  endContactRequest: async () => {
    const path = `${await askedRoundPath()}/contact-request`;
    return { path, between: () => service.studio('POST', path, { note: 'Who are you?' }) };
  },
  eraseContacts: async () => ({ path: `${await askedRoundPath()}/contacts` }),
  eraseContact: async () => {
    const { round, viewerId } = await newAskedWinner(service, await service.createStream());
    return { path: `${round.path}/contacts/${viewerId}` };
  },
  createProduct: async () => ({
    path: `/streams/${await service.createStream()}/products`,
    body: PRODUCT,
  }),
  patchProduct: async () => {
    const path = await createProduct();
    return { path, body: { price: 1 }, between: () => service.studio('PATCH', path, { price: 2 }) };
  },
  deleteProduct: async () => ({ path: await createProduct() }),
  showProduct: async () => {
    const path = await createProduct();
    return { path: `${path}/show`, between: () => service.studio('POST', `${path}/hide`) };
  },
  hideProduct: async () => {
    const path = await createProduct();
    const show = () => service.studio('POST', `${path}/show`);
    await show();
    return { path: `${path}/hide`, between: show };
  },
  sendEvent: async () => ({
    path: `/streams/${await service.createStream()}/events`,
    body: { type: 'purchase', data: { text: 'two mugs' } },
  }),
};

/** POST for the size of their bodies; they change nothing, so a repetition needs no key. */
const WRITES_NOTHING = ['previewImport'];
const SHOWN_ONCE = [
  ...['createApiToken', 'invite', 'createWebhook', 'rotateWebhookSecret'],
  'createPresenterKey',
];

describe('a repeated write', () => {
  test('[R-10] a repeated write is tested for every write operation', () => {
    const operations: [string, Operation][] = Object.entries(studioApi);
    const keyed = operations.filter(([, { headers }]) => headers?.shape['Idempotency-Key']);
    const names = keyed.map(([name]) => name).filter((name) => !SHOWN_ONCE.includes(name));
    const others = operations.filter(
      ([name, { access, method }]) =>
        access === 'studio' && method !== 'GET' && !WRITES_NOTHING.includes(name),
    );
    expect(keyed.length).toBe(others.length);
    expect(Object.keys(WRITES).sort()).toEqual(names.sort());
  });

  test.each(Object.keys(WRITES))(
    '[R-10] [R-11] a repeated %s has no effect and gets the same status and body',
    async (name) => {
      const { method } = studioApi[name as keyof typeof studioApi];
      const { path, body, between } = await (WRITES[name] as () => Promise<Write>)();
      const key = randomUUID();
      const first = await service.studio(method, path, body, keyed(key));
      expect(first.status).toBeLessThan(300);
      service.pass(7);
      await between?.();
      const second = await service.studio(method, path, body, keyed(key));
      expect(second.status).toBe(first.status);
      expect(await second.text()).toBe(await first.text());
    },
  );

  test('[R-11] a repeated order changes nothing and gets the rundown as it is now', async () => {
    const { id, streamId } = await createDraft();
    const path = `/streams/${streamId}/rundown`;
    const key = randomUUID();
    await service.studio('POST', path, { order: [id] }, keyed(key));
    const added = await service.studio('POST', `/streams/${streamId}/quizzes`, QUIZ);
    const { id: addedId } = await expectJson<{ id: string }>(added, 201);
    await service.studio('POST', path, { order: [addedId, id] });
    const repeated = await service.studio('POST', path, { order: [id] }, keyed(key));
    const { results } = await expectJson<{ results: { id: string }[] }>(repeated, 200);
    expect(results.map((quiz) => quiz.id)).toEqual([addedId, id]);
  });

  test('[R-11] repeated writes create one stream, one event and one patch', async () => {
    const { token } = await service.createAccount();
    const key = randomUUID();
    for (let n = 0; n < 3; n++) {
      await service.studio('POST', '/streams', { title: 'Once' }, keyed(key, token));
    }
    const list = await service.studio('GET', '/streams', undefined, { token });
    expect((await expectJson<{ results: object[] }>(list, 200)).results).toHaveLength(1);

    const id = await service.createStream({ title: 'Old' });
    const viewer = await service.viewer(id);
    const interval = service.interval();
    const event = { type: 'lights', data: null };
    for (let n = 0; n < 3; n++) {
      await service.studio('POST', `/streams/${id}/events`, event, keyed('lights-1'));
    }
    await service.advance(1);
    const events = await service.events(viewer, interval);
    expect(events.filter(({ type }) => type === 'lights')).toHaveLength(1);

    await service.studio('PATCH', `/streams/${id}`, { title: 'First' }, keyed('patch-1'));
    await service.studio('PATCH', `/streams/${id}`, { title: 'Second' });
    await service.studio('PATCH', `/streams/${id}`, { title: 'First' }, keyed('patch-1'));
    const stream = await service.studio('GET', `/streams/${id}`);
    expect(await expectJson<object>(stream, 200)).toMatchObject({ title: 'Second' });
  });

  test('[R-11] a repeated write that arrives with the first one has no effect', async () => {
    const { token } = await service.createAccount();
    const key = randomUUID();
    const responses = await Promise.all(
      Array.from({ length: 20 }, () =>
        service.studio('POST', '/streams', { title: 'Once' }, keyed(key, token)),
      ),
    );
    const bodies = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(bodies).size).toBe(1);
    const list = await service.studio('GET', '/streams', undefined, { token });
    expect((await expectJson<{ results: object[] }>(list, 200)).results).toHaveLength(1);
  });

  test('[R-11] a repeated write may differ in white space, order of fields and a final slash', async () => {
    const key = randomUUID();
    const body = { title: 'A', unlisted: true };
    const first = await service.studio('POST', '/streams', body, keyed(key));
    const second = await fetch(`${service.url}/studio/v1/streams/`, {
      method: 'POST',
      headers: {
        Authorization: `Token ${service.account.token}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': key,
      },
      body: '{ "unlisted" : true,\n "title" : "\\u0041" }',
    });
    expect(second.status).toBe(201);
    expect(await second.text()).toBe(await first.text());
  });

  test('[R-14] a repeated request for a service token gets 409 and creates no second token', async () => {
    const { token } = await service.createAccount();
    const key = randomUUID();
    const first = await service.studio('POST', '/api-tokens', { name: 'a' }, keyed(key, token));
    const made = await expectJson<{ token: string }>(first, 201);
    const second = await service.studio('POST', '/api-tokens', { name: 'a' }, keyed(key, token));
    expect(second.status).toBe(409);
    expect(await second.text()).not.toContain(made.token);
    const list = await service.studio('GET', '/api-tokens', undefined, { token });
    expect((await expectJson<{ results: object[] }>(list, 200)).results).toHaveLength(2);
  });

  test('[R-14] [U-14] a repeated invitation gets 409, and the first link stays valid', async () => {
    const key = randomUUID();
    const body = { email: `${randomUUID()}@example.org`, role: 'host' };
    const first = await service.studio('POST', '/invitations', body, keyed(key));
    const { link } = await expectJson<{ link: string }>(first, 201);
    const second = await service.studio('POST', '/invitations', body, keyed(key));
    expect(second.status).toBe(409);
    expect(await second.text()).not.toContain(tokenOf(link));
    const look = { token: tokenOf(link) };
    expect((await service.studio('POST', '/invitations/look', look)).status).toBe(200);
  });
});

describe('an idempotency key', () => {
  test('[R-12] an idempotency key with another method, path or body gets 409 without effect', async () => {
    const id = await service.createStream({ title: 'Old' });
    const other = await service.createStream({ title: 'Old' });
    const key = randomUUID();
    await service.studio('PATCH', `/streams/${id}`, { title: 'New' }, keyed(key));
    for (const [method, path, body] of [
      ['POST', '/streams', { title: 'New' }],
      ['PATCH', `/streams/${other}`, { title: 'New' }],
      ['PATCH', `/streams/${id}`, { title: 'Newer' }],
      ['PATCH', `/streams/${id}`, { title: 'New', unlisted: true }],
      ['POST', `/streams/${other}/start`, undefined],
      ['POST', '/api-tokens', { name: 'New' }],
    ] as const) {
      expect((await service.studio(method, path, body, keyed(key))).status).toBe(409);
    }
    for (const [stream, title] of [
      [id, 'New'],
      [other, 'Old'],
    ]) {
      const read = await service.studio('GET', `/streams/${stream}`);
      expect(await expectJson<object>(read, 200)).toMatchObject({ title, status: 'CREATED' });
    }
  });

  test('[R-13] an idempotency key is not used up by a failed request', async () => {
    const key = randomUUID();
    const open = await service.publishQuiz(await service.createStream(), {
      reveal: 'manual',
      duration: 1_000,
    });
    const reveal = `/quizzes/${open.id}/reveal`;
    for (const [path, body, status] of [
      ['/streams', { title: '' }, 400],
      [`/streams/${randomUUID()}/start`, undefined, 404],
      [reveal, undefined, 409],
    ] as const) {
      expect((await service.studio('POST', path, body, keyed(key))).status).toBe(status);
    }
    await service.advance(open.closeInterval - service.interval() + 1);
    expect((await service.studio('POST', reveal, undefined, keyed(key))).status).toBe(200);
    expect((await service.studio('POST', '/streams', { title: 'A' }, keyed(key))).status).toBe(409);
  });

  test('[R-10] an idempotency key is stored for 24 h', async () => {
    const key = randomUUID();
    const post = () => service.studio('POST', '/streams', { title: 'A' }, keyed(key));
    const send = async () => expectJson<{ id: string }>(await post(), 201);
    const { id } = await send();
    service.pass(DAY_MS - 1);
    expect((await send()).id).toBe(id);
    await service.store.deleteExpiredIdempotencyKeys({ nowMs: service.clock.nowMs() });
    expect((await send()).id).toBe(id);
    service.pass(1);
    const next = await send();
    expect(next.id).not.toBe(id);
    expect((await send()).id).toBe(next.id);
    service.pass(DAY_MS);
    await service.store.deleteExpiredIdempotencyKeys({ nowMs: service.clock.nowMs() });
    expect((await send()).id).not.toBe(next.id);
  });

  test('[R-10] an idempotency key belongs to one account', async () => {
    const { token } = await service.createAccount();
    const key = randomUUID();
    const mine = await service.studio('POST', '/streams', { title: 'Mine' }, keyed(key));
    const theirs = await service.studio('POST', '/streams', { title: 'Theirs' }, keyed(key, token));
    expect(mine.status).toBe(201);
    expect(await expectJson<object>(theirs, 201)).toMatchObject({ title: 'Theirs' });
  });

  test('[R-10] an idempotency key has 1 to 128 visible ASCII characters', async () => {
    for (const key of ['k', '~!"#{}', 'x'.repeat(128)]) {
      const body = { title: 'A' };
      expect((await service.studio('POST', '/streams', body, keyed(key))).status).toBe(201);
    }
  });

  test.each(['', 'two words', 'x'.repeat(129), 'caf\u00e9', 'tab\tbed'])(
    '[R-10] the idempotency key %j gets 400 on every write, which has no effect',
    async (key) => {
      const id = await service.createStream({ title: 'Old' });
      for (const [method, path, body] of [
        ['POST', `/streams/${id}/start`, undefined],
        ['PATCH', `/streams/${id}`, { title: 'New' }],
        ['DELETE', `/api-tokens/${(await createApiToken()).id}`, undefined],
      ] as const) {
        expect((await service.studio(method, path, body, keyed(key))).status).toBe(400);
      }
      const stream = await service.studio('GET', `/streams/${id}`, undefined, keyed(key));
      expect(await expectJson<object>(stream, 200)).toMatchObject({
        title: 'Old',
        status: 'CREATED',
      });
    },
  );

  test('[R-10] an idempotency key survives a restart', async () => {
    const directory = `${service.directory}/again`;
    const key = randomUUID();
    const before = await startService({ directory });
    const account = await before.createAccount();
    const body = { title: 'Once' };
    const first = await before.studio('POST', '/streams', body, keyed(key, account.token));
    const made = await expectJson<{ id: string }>(first, 201);
    await before.close();
    const after = await startService({ directory });
    const second = await after.studio('POST', '/streams', body, keyed(key, account.token));
    expect((await expectJson<{ id: string }>(second, 201)).id).toBe(made.id);
    await after.close();
  });
});
