import { PASSWORD } from '../studio/user-agent.ts';
import { until } from '../until.ts';
import type { Target } from './target.ts';

/** A credential and what it may read. */
export interface Credential {
  readonly name: string;
  /** Header lines, each with its line end. */
  readonly lines: string;
  /** Whether it belongs to the account whose secrets a response may contain. */
  readonly owner: 'main' | 'other' | null;
}

/** Everything that requests refer to: the ids, the credentials, and what must not leak. */
export interface World {
  /** Values of path parameters: of the main account, and of another. */
  readonly ids: Readonly<Record<string, string>>;
  readonly otherIds: Readonly<Record<string, string>>;
  readonly credentials: readonly Credential[];
  /** Texts that only responses to their owner may contain. */
  readonly secrets: readonly { readonly owner: 'main' | 'other'; readonly text: string }[];
  /** The right choice of the open quiz, which no response may name as its answer. */
  readonly rightChoice: string;
  /** Credentials that no log may contain. */
  readonly unlogged: readonly string[];
  /** The feed and the heartbeat of a viewer, for comparisons and pipelines. */
  readonly viewerToken: string;
  readonly streamId: string;
  readonly interval: number;
}

export interface Account {
  readonly uuid: string;
  readonly token: string;
}

/** The accounts of a run; neither may see or change the other. */
export interface Accounts {
  readonly main: Account;
  readonly other: Account;
}

interface AccountWorld {
  readonly ids: Record<string, string>;
  readonly streamId: string;
  readonly viewerToken: string;
  readonly secret: string;
  readonly rightChoice: string;
  readonly presenterKey: string;
  readonly cookie: string;
  readonly csrf: string;
}

/** Creates a fresh set of resources of both accounts. */
export async function createWorld(target: Target, accounts: Accounts): Promise<World> {
  const url = (target.nodes[0] as Target['nodes'][number]).url;
  const main = await createAccountWorld(url, accounts.main);
  const other = await createAccountWorld(url, accounts.other);
  const { interval } = await call<{ interval: number }>(url, 'GET', '/api/v1/time');
  const bearer = (token: string) => `Authorization: Bearer ${token}\r\n`;
  const session = ({ cookie, csrf }: AccountWorld) =>
    `Cookie: ${cookie}\r\nX-CSRF-Token: ${csrf}\r\n`;
  const credentials: Credential[] = [
    { name: 'none', lines: '', owner: null },
    { name: 'viewer', lines: bearer(main.viewerToken), owner: null },
    { name: "another stream's viewer", lines: bearer(other.viewerToken), owner: null },
    { name: 'token', lines: `Authorization: Token ${accounts.main.token}\r\n`, owner: 'main' },
    { name: "another's token", lines: tokenLine(accounts.other.token), owner: 'other' },
    { name: 'session', lines: session(main), owner: 'main' },
    { name: "another's session", lines: session(other), owner: 'other' },
    { name: 'session without CSRF token', lines: `Cookie: ${main.cookie}\r\n`, owner: 'main' },
    {
      name: 'presenter key',
      lines: `Authorization: Presenter ${main.presenterKey}\r\n`,
      owner: 'main',
    },
    ...strangeCredentials(main.viewerToken, accounts.main.token),
  ];
  return {
    ids: main.ids,
    otherIds: other.ids,
    credentials,
    secrets: [
      { owner: 'main', text: main.secret },
      { owner: 'other', text: other.secret },
    ],
    rightChoice: main.rightChoice,
    unlogged: [
      ...[main, other].flatMap(({ viewerToken, presenterKey, cookie, csrf }) => [
        ...[viewerToken, presenterKey, cookie.split('=')[1] as string, csrf],
      ]),
      ...[accounts.main.token, accounts.other.token, PASSWORD],
    ],
    viewerToken: main.viewerToken,
    streamId: main.streamId,
    interval,
  };
}

/**
 * Ends the streams and rehearsals of a world, as a producer does after a show. Otherwise live streams and simulated
 * viewers accumulate, and the memory of a long run says nothing.
 */
export async function endWorld(target: Target, accounts: Accounts, world: World): Promise<void> {
  const { url } = target.nodes[0] as Target['nodes'][number];
  const streams = [
    { id: world.ids.stream_id, account: accounts.main },
    { id: world.otherIds.stream_id, account: accounts.other },
  ];
  for (const { id, account } of streams) {
    const send = (method: string, path: string) =>
      until(`${method} ${path} of stream ${id} is done`, async () => {
        // The requests of the world may have ended or deleted it.
        const { status } = await fetch(`${url}/studio/v1/streams/${id}/${path}`, {
          method,
          headers: { Authorization: `Token ${account.token}` },
        });
        return status < 500;
      });
    await send('DELETE', 'rehearsals/current');
    await send('POST', 'end');
  }
}

const tokenLine = (token: string) => `Authorization: Token ${token}\r\n`;

/** Credentials that are wrong by a little. */
function strangeCredentials(viewerToken: string, serviceToken: string): Credential[] {
  const [head = '', payload = '', signature = ''] = viewerToken.split('.');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  const values = [
    ['another spelling of the signature', `Bearer ${viewerToken}=`],
    ['a cut signature', `Bearer ${viewerToken.slice(0, -1)}`],
    ['no signature', `Bearer ${head}.${payload}.`],
    ['algorithm none', `Bearer ${none}.${payload}.`],
    ['a swapped payload', `Bearer ${head}.${signature}.${payload}`],
    ['two tokens', `Bearer ${viewerToken}, Bearer ${viewerToken}`],
    ['a service token as a viewer', `Bearer ${serviceToken}`],
    ['a viewer token as a service token', `Token ${viewerToken}`],
    [
      'a changed service token',
      `Token ${serviceToken.slice(0, -1)}${serviceToken.endsWith('0') ? 1 : 0}`,
    ],
    ['a long token', `Bearer ${'a'.repeat(9_000)}`],
    ['bytes above 127', 'Bearer \xff\xfe'],
  ];
  return values.map(([name, value]) => ({
    name: name as string,
    lines: `Authorization: ${value}\r\n`,
    owner: null,
  }));
}

async function createAccountWorld(url: string, { token }: Account): Promise<AccountWorld> {
  const studio = <T>(method: string, path: string, body?: object) =>
    call<T>(url, method, `/studio/v1${path}`, body, token);
  type Made = { id: string };
  const secret = `secret-${crypto.randomUUID()}`;
  const rightChoice = `right-${crypto.randomUUID()}`;
  const { id: stream_id } = await studio<Made>('POST', '/streams', {
    title: 'A show',
    unlisted: true,
  });
  const path = `/streams/${stream_id}`;
  const draft = { question: secret, choices: ['a', 'b'], answer: 'b', duration: 1_000 };
  const { id: quiz_id } = await studio<Made>('POST', `${path}/quizzes`, draft);
  const choices = ['wrong', rightChoice];
  const open = {
    question: 'Q?',
    choices,
    answer: rightChoice,
    duration: 600_000,
    reveal: 'manual',
  };
  const { id: openQuiz } = await studio<Made>('POST', `${path}/quizzes`, open);
  const { token: viewerToken } = await call<{ token: string }>(url, 'POST', '/api/v1/token', {
    stream_id,
    unique_user_identifier: crypto.randomUUID(),
  });
  await studio('POST', `${path}/start`);
  // Refused while a quiz is open.
  const { id: round_id } = await studio<Made>('POST', `${path}/request-winners`);
  await studio('POST', `/quizzes/${openQuiz}/publish`);
  const product = { name: 'Mug', price: 100, currency: 'EUR', url: 'https://shop.example.org/mug' };
  const { id: product_id } = await studio<Made>('POST', `${path}/products`, product);
  const webhook_id = await newWebhook(studio);
  const { id: delivery_id } = await studio<Made>('POST', `/webhooks/${webhook_id}/test`);
  const { id: token_id } = await studio<Made>('POST', '/api-tokens', { name: 'laptop' });
  const { key } = await studio<{ key: string }>('POST', `${path}/presenter-key`);
  const member = await newMember(url, studio);
  const { id: invitation_id } = await studio<Made>('POST', '/invitations', {
    email: `${crypto.randomUUID()}@example.org`,
    role: 'host',
  });
  const payload = Buffer.from(viewerToken.split('.')[1] as string, 'base64url').toString();
  const viewer = JSON.parse(payload).sub as string;
  return {
    ids: {
      ...{ stream_id, quiz_id, product_id, webhook_id, delivery_id, round_id, token_id, viewer },
      open_quiz_id: openQuiz,
      ...{ invitation_id, member_id: member.uuid, line_id: crypto.randomUUID() },
    },
    ...{ streamId: stream_id, viewerToken, secret, rightChoice, presenterKey: key },
    ...{ cookie: member.cookie, csrf: member.csrf },
  };
}

type Studio = <T>(method: string, path: string, body?: object) => Promise<T>;

/** Creates a webhook; an account has only a few, so earlier ones are deleted. */
async function newWebhook(studio: Studio): Promise<string> {
  const { results } = await studio<{ results: { id: string }[] }>('GET', '/webhooks');
  for (const { id } of results) await studio('DELETE', `/webhooks/${id}`);
  const webhook = { url: 'https://hooks.example.org/', events: ['winners'] };
  return (await studio<{ id: string }>('POST', '/webhooks', webhook)).id;
}

/** Invites a member who accepts. The members before it stay: they have no session here. */
async function newMember(url: string, studio: Studio) {
  const invitation = { email: `${crypto.randomUUID()}@example.org`, role: 'host' };
  const { link } = await studio<{ link: string }>('POST', '/invitations', invitation);
  const token = new URL(link).hash.split('=')[1];
  const response = await fetch(`${url}/studio/v1/invitations/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, name: 'A host', password: PASSWORD }),
  });
  const { csrf, member } = (await response.json()) as { csrf: string; member: { uuid: string } };
  const [cookie = ''] = response.headers.getSetCookie();
  return { csrf, uuid: member.uuid, cookie: cookie.split(';')[0] as string };
}

/** Sends a request that must succeed. */
async function call<T>(
  url: string,
  method: string,
  path: string,
  body?: object,
  token?: string,
): Promise<T> {
  const response = await fetch(url + path, {
    method,
    keepalive: false,
    headers: {
      ...(token && { Authorization: `Token ${token}` }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
