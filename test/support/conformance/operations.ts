import type { Operation } from '../../../protocol/operation.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import { viewerApi } from '../../../protocol/viewer-api.ts';
import { sendMessage, viewerIdOf } from '../chat/moderated-chat.ts';
import { expectJson, type Harness, QUIZ } from '../harness/harness.ts';
import { DETAILS, newAskedWinner, WINNER } from '../quizzes/asked-winner.ts';
import { inviteMember, newMember, PASSWORD } from '../studio/user-agent.ts';

export type OperationName = keyof typeof viewerApi | keyof typeof studioApi;

/** Every operation of both APIs. */
export const OPERATIONS: Readonly<Record<OperationName, Operation>> = {
  ...viewerApi,
  ...studioApi,
};
/** Operations that succeed only in a database without members: test/studio-api/members.test.ts. */
export const SETUP_OPERATIONS: readonly OperationName[] = ['setUp', 'lookAtSetupLink'];

/** All but `SETUP_OPERATIONS`. */
export const OPERATION_NAMES = (Object.keys(OPERATIONS) as OperationName[]).filter(
  (name) => !SETUP_OPERATIONS.includes(name),
);

/** A request with which an operation succeeds. */
export interface ValidRequest {
  readonly name: OperationName;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** The variable parts of a valid request. */
interface RequestParts {
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: Record<string, unknown>;
}

const CHAT = { kind: 'message', text: 'Good evening!', name: 'Ada' };
export const PRODUCT = {
  name: 'Mug',
  picture_url: 'https://shop.example.org/mug.jpg',
  price: 1_250,
  currency: 'EUR',
  url: 'https://shop.example.org/mug',
  stock: 3,
};

export const PURCHASE = { type: 'purchase', data: { name: 'Ada', text: 'bought two mugs' } };
export const FULL_STREAM = {
  title: 'Quiz night',
  dash_url: 'https://cdn.example.org/show/manifest.mpd',
  hls_url: 'https://cdn.example.org/show/master.m3u8',
  unlisted: true,
  latencyAllowance: 2_000,
  recording: true,
  autoStart: true,
  keepOpen: true,
  description: 'Ten questions',
  poster_url: 'https://cdn.example.org/poster.jpg',
  logo_url: 'https://cdn.example.org/logo.svg',
  color: '#2f6fed',
  startsAt: 1_900_000_000_000,
};
export const FULL_QUIZ = { ...QUIZ, reveal: 'manual' };
const FULL_IMPORT = {
  format: 'fourbeat-json',
  text: JSON.stringify({ quizzes: [QUIZ] }),
  duration: 15_000,
};
const FULL_REHEARSAL = {
  viewers: 1,
  latencyMs: 500,
  lossShare: 0.1,
  botShare: 0.5,
  lateShare: 0.25,
};
const FULL_WEBHOOK = {
  url: 'https://hooks.example.org/fourbeat',
  events: ['stream.started', 'winners'],
  enabled: true,
};

/**
 * Creates a stream and everything else that an operation needs.
 * @returns a request with which the operation succeeds
 */
export async function validRequest(harness: Harness, name: OperationName): Promise<ValidRequest> {
  const { method, path, access } = OPERATIONS[name];
  const streamId = await harness.createStream();
  const { ids = {}, query = '', body } = await requestPartsFor(harness, name, streamId);
  const filled = path.replace(/\{(\w+)\}/g, (_, id: string) => ids[id] ?? streamId);
  const headers: Record<string, string> = {};
  if (access === 'viewer') {
    const identifier = name === 'saveOwnContact' ? WINNER : undefined;
    headers.Authorization = `Bearer ${(await harness.viewer(streamId, identifier)).token}`;
  } else if (access === 'service' || access === 'studio')
    headers.Authorization = `Token ${harness.account.token}`;
  else if (access === 'session') {
    const { cookie, csrf } = (await newMember(harness, 'moderator', await harness.createAccount()))
      .browser;
    Object.assign(headers, { Cookie: cookie, 'X-CSRF-Token': csrf });
  }
  if (body) headers['Content-Type'] = 'application/json';
  return { name, method, path: filled + query, headers, ...(body ? { body } : {}) };
}

async function requestPartsFor(
  harness: Harness,
  name: OperationName,
  streamId: string,
): Promise<RequestParts> {
  switch (name) {
    case 'listStreams':
      return { query: `?producer=${harness.account.uuid}` };
    case 'createToken':
      return { body: { stream_id: streamId, unique_user_identifier: 'user-42' } };
    case 'readInterval':
      await harness.advance(1);
      return { query: `?interval=${harness.interval() - 1}` };
    case 'postChat':
      return { body: CHAT };
    case 'answerQuiz': {
      const quiz = await harness.publishQuiz(streamId);
      const { id: quiz_id, closeInterval } = quiz;
      return { ids: { quiz_id }, body: { streamId, choice: QUIZ.answer, closeInterval } };
    }
    case 'recordWinner':
      await expectJson(await harness.studio('POST', `/streams/${streamId}/request-winners`), 201);
      return {};
    case 'createApiToken':
      return { body: { name: 'laptop' } };
    case 'revokeApiToken':
      return { ids: { token_id: await newId(harness, '/api-tokens', { name: 'old laptop' }) } };
    case 'signIn': {
      const { email } = await newMember(harness, 'host');
      return { body: { email, password: PASSWORD } };
    }
    case 'patchOwnMember':
      return { body: { name: 'Ada', password: 'another password', currentPassword: PASSWORD } };
    case 'invite':
      return { body: { email: `${crypto.randomUUID()}@example.org`, role: 'host' } };
    case 'lookAtLink':
      return { body: { token: (await inviteMember(harness, 'host')).token } };
    case 'acceptLink': {
      const { token } = await inviteMember(harness, 'host');
      return { body: { token, name: 'Ada', password: PASSWORD } };
    }
    case 'withdrawInvitation':
      return { ids: { invitation_id: (await inviteMember(harness, 'host')).id } };
    case 'patchMember':
      return {
        ids: { member_id: (await newMember(harness, 'host')).uuid },
        body: { role: 'moderator' },
      };
    case 'removeMember':
      return { ids: { member_id: (await newMember(harness, 'host')).uuid } };
    case 'createStream':
    case 'patchStream':
      return { body: FULL_STREAM };
    case 'endStream':
      return { body: { at: harness.clock.nowMs() + 60_000 } };
    case 'readReport':
      await expectJson(await harness.studio('POST', `/streams/${streamId}/end`), 200);
      return {};
    case 'createQuiz':
      return { body: FULL_QUIZ };
    case 'patchQuiz':
      return { ids: { quiz_id: await newDraft(harness, streamId) }, body: FULL_QUIZ };
    case 'orderQuizzes': {
      const ids = [await newDraft(harness, streamId), await newDraft(harness, streamId)];
      return { body: { order: ids.toReversed(), revision: 2 } };
    }
    case 'importQuizzes':
    case 'previewImport':
      return { body: FULL_IMPORT };
    case 'readQuiz':
    case 'duplicateQuiz':
    case 'deleteQuiz':
    case 'publishQuiz':
      return { ids: { quiz_id: await newDraft(harness, streamId) } };
    case 'revealQuiz': {
      const quiz = await harness.publishQuiz(streamId, { duration: 1_000, reveal: 'manual' });
      await harness.advance(5);
      return { ids: { quiz_id: quiz.id } };
    }
    case 'saveOwnContact': {
      const { round } = await newAskedWinner(harness, streamId);
      return { body: { roundId: round.id, ...DETAILS } };
    }
    case 'requestContacts': {
      const { round } = await newAskedWinner(harness, streamId);
      return { ids: { round_id: round.id }, body: { note: 'Who are you?' } };
    }
    case 'endContactRequest':
    case 'listContacts':
    case 'eraseContacts':
    case 'eraseContact': {
      const { round, viewerId } = await newAskedWinner(harness, streamId);
      return { ids: { round_id: round.id, viewer: viewerId } };
    }
    case 'createProduct':
      return { body: PRODUCT };
    case 'patchProduct':
      return { ids: { product_id: await newProduct(harness, streamId) }, body: PRODUCT };
    case 'deleteProduct':
    case 'showProduct':
    case 'hideProduct':
      return { ids: { product_id: await newProduct(harness, streamId) } };
    case 'sendEvent':
      return { body: PURCHASE };
    case 'createRehearsal':
      await removeRehearsals(harness, streamId);
      return { body: FULL_REHEARSAL };
    case 'readRehearsal':
    case 'deleteRehearsal': {
      await removeRehearsals(harness, streamId);
      const path = `/streams/${streamId}/rehearsals`;
      await expectJson(await harness.studio('POST', path, FULL_REHEARSAL), 201);
      return {};
    }
    case 'patchChatMode':
      return { body: { slowModeMs: 10_000, paused: true } };
    case 'hideChatLines':
      return { body: { ids: [crypto.randomUUID()] } };
    case 'pinChatLine':
      return { body: { line: await sentMessage(harness, streamId) } };
    case 'muteViewer':
      return { ids: await newViewerId(harness, streamId), body: { minutes: 10, name: 'Ada' } };
    case 'banViewer':
      return { ids: await newViewerId(harness, streamId), body: { name: 'Ada' } };
    case 'unmuteViewer':
    case 'unbanViewer':
      return { ids: await newViewerId(harness, streamId) };
    case 'queueQuestion': {
      const line = await sentMessage(harness, streamId);
      return { ids: { line_id: line.id }, body: { state: 'open', line } };
    }
    case 'createWebhook':
      await removeWebhooks(harness);
      return { body: FULL_WEBHOOK };
    case 'patchWebhook':
      return { ids: { webhook_id: await newWebhook(harness) }, body: FULL_WEBHOOK };
    case 'deleteWebhook':
    case 'rotateWebhookSecret':
    case 'testWebhook':
    case 'listDeliveries':
      return { ids: { webhook_id: await newWebhook(harness) } };
    case 'retryDelivery': {
      const webhook_id = await newWebhook(harness);
      const delivery_id = await newId(harness, `/webhooks/${webhook_id}/test`, {});
      return { ids: { webhook_id, delivery_id } };
    }
    default:
      return {};
  }
}

/** Ids of the streams that may have rehearsals, by service. */
const rehearsedStreams = new WeakMap<Harness, string[]>();

/** Removes earlier rehearsals, since a node allows only a few. The next stream will have one. */
async function removeRehearsals(harness: Harness, nextStreamId: string): Promise<void> {
  for (const id of rehearsedStreams.get(harness) ?? []) {
    await harness.studio('DELETE', `/streams/${id}/rehearsals/current`);
  }
  rehearsedStreams.set(harness, [nextStreamId]);
  while (await harness.store.removeRehearsal({ nowMs: harness.clock.nowMs() }));
}

/** Removes all webhooks once there are 15, because an account allows only a few. */
async function removeWebhooks(harness: Harness): Promise<void> {
  const list = await harness.studio('GET', '/webhooks');
  const { results } = await expectJson<{ results: { id: string }[] }>(list, 200);
  if (results.length < 15) return;
  for (const { id } of results) await harness.studio('DELETE', `/webhooks/${id}`);
}

async function newWebhook(harness: Harness): Promise<string> {
  await removeWebhooks(harness);
  return newId(harness, '/webhooks', FULL_WEBHOOK);
}

const sentMessage = async (harness: Harness, streamId: string) =>
  sendMessage(harness, await harness.viewer(streamId));

const newViewerId = async (harness: Harness, streamId: string) => ({
  viewer: viewerIdOf(await harness.viewer(streamId)),
});

const newDraft = (harness: Harness, streamId: string) =>
  newId(harness, `/streams/${streamId}/quizzes`, QUIZ);

const newProduct = (harness: Harness, streamId: string) =>
  newId(harness, `/streams/${streamId}/products`, PRODUCT);

async function newId(harness: Harness, path: string, body: object): Promise<string> {
  return (await expectJson<{ id: string }>(await harness.studio('POST', path, body), 201)).id;
}

/** Longer than any response may take, except long polls and the body deadline. */
const HANG_MS = 2_000;

/** Sends a request with optional changes. Fails after 2 s without a response. */
export function send(
  harness: Harness,
  { method, path, headers, body }: Omit<ValidRequest, 'name'>,
  change: RequestInit = {},
): Promise<Response> {
  return fetch(harness.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(HANG_MS),
    ...change,
  });
}

/** The same request without this header. */
export function without<R extends Pick<ValidRequest, 'headers'>>(request: R, header: string): R {
  const { [header]: _, ...headers } = request.headers;
  return { ...request, headers };
}

/** A rate limit that no test reaches by accident. */
const HIGH_RATE = { points: 1_000_000, durationS: 60 };
export const HIGH_RATES = {
  tokens: HIGH_RATE,
  failedAuth: HIGH_RATE,
  answers: HIGH_RATE,
  chat: HIGH_RATE,
  studio: HIGH_RATE,
  signIn: HIGH_RATE,
  passwords: HIGH_RATE,
};
