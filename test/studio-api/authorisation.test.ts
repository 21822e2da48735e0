import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { MEMBER_ROLES, type MemberRole } from '../../protocol/members.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { openApiDocument } from '../../server/web/openapi.ts';
import { expectUnauthorized } from '../support/conformance/expectations.ts';
import {
  HIGH_RATES,
  OPERATIONS,
  type OperationName,
  SETUP_OPERATIONS,
  send,
  type ValidRequest,
  validRequest,
} from '../support/conformance/operations.ts';
import {
  type Account,
  expectJson,
  type Harness,
  startService,
} from '../support/harness/harness.ts';
import { newMember, PASSWORD, type SignedIn, UserAgent } from '../support/studio/user-agent.ts';

// Calls every studio operation with every kind of credential. The table is written here instead of
// derived from the operations, so that a change of either fails a test.

/** A row of the table below: who may call its operations. */
type Row = 'all members' | 'producers' | 'owners' | 'signed-in members' | 'anybody';

const OPERATIONS_OF: Readonly<Record<Row, string>> = {
  anybody: 'signIn setUp lookAtSetupLink lookAtLink acceptLink',
  'signed-in members': 'readSession signOut signOutEverywhere patchOwnMember',
  owners: `
    invite listInvitations withdrawInvitation listMembers patchMember removeMember createApiToken
    listApiTokens revokeApiToken createWebhook listWebhooks patchWebhook deleteWebhook testWebhook
    rotateWebhookSecret listDeliveries retryDelivery`,
  producers: `
    createStream patchStream startStream endStream reopenStream readIngest rotateStreamKey createQuiz
    orderQuizzes duplicateQuiz importQuizzes previewImport exportQuizzes patchQuiz deleteQuiz publishQuiz
    revealQuiz requestWinners createPresenterKey readPresenterKey withdrawPresenterKey
    requestContacts endContactRequest listContacts eraseContacts eraseContact exportContacts
    createProduct patchProduct deleteProduct showProduct hideProduct
    createRehearsal deleteRehearsal sendEvent exportAnswers exportWinners exportFeed readReport
    exportAudience exportChat exportResults`,
  'all members': `
    readAccount listOwnStreams readOwnStream listQuizzes readQuiz listWinnersRounds watchShow
    readSentLog readAudience readChatLog patchChatMode hideChatLines pinChatLine muteViewer
    unmuteViewer banViewer unbanViewer listRestricted queueQuestion listQuestions presentShow
    readRehearsal listProducts`,
};

const ROWS = Object.entries(OPERATIONS_OF).flatMap(([row, names]) =>
  (names.match(/\w+/g) ?? []).map((name) => [name, row as Row] as const),
);
const ROW_OF: Readonly<Record<string, Row>> = Object.fromEntries(ROWS);

const ROLES_OF: Readonly<Record<Row, readonly MemberRole[]>> = {
  'all members': MEMBER_ROLES,
  producers: ['owner', 'host'],
  owners: ['owner'],
  'signed-in members': [],
  anybody: [],
};

const NAMES = Object.keys(studioApi) as (keyof typeof studioApi)[];
const withRow = (...rows: Row[]) => NAMES.filter((name) => rows.includes(ROW_OF[name] as Row));
const ACCOUNTS = withRow('all members', 'producers', 'owners');
const isWrite = (name: OperationName) => OPERATIONS[name].method !== 'GET';

let service: Harness;
const members = {} as Record<MemberRole, SignedIn>;
let other: Account;
let otherOwner: SignedIn;
let viewerToken: string;
let revokedToken: string;
let otherShowsKey: string;
let ended: UserAgent;
let expired: UserAgent;

beforeAll(async () => {
  service = await startService({ config: { rates: HIGH_RATES } });
  const { browser, email } = await newMember(service, 'owner');
  expired = browser;
  service.pass(12 * 3600_000);
  ended = new UserAgent(service.url);
  await ended.signIn(email, PASSWORD);
  const { cookie } = ended;
  await ended.send('DELETE', '/session');
  ended.cookie = cookie;
  for (const role of MEMBER_ROLES) members[role] = await newMember(service, role);
  other = await service.createAccount();
  otherOwner = await newMember(service, 'owner', other);
  const streamId = await service.createStream();
  viewerToken = (await service.viewer(streamId)).token;
  const key = await service.studio('POST', `/streams/${streamId}/presenter-key`);
  otherShowsKey = (await expectJson<{ key: string }>(key, 201)).key;
  const made = await service.studio('POST', '/api-tokens', { name: 'revoked' });
  const { id, token } = await expectJson<{ id: string; token: string }>(made, 201);
  revokedToken = token;
  await service.studio('DELETE', `/api-tokens/${id}`);
}, 30_000);
afterAll(() => service.close());

/** The same request with another credential, or without any. */
function withAuth(request: ValidRequest, credential: Record<string, string> = {}): ValidRequest {
  const { Authorization: _, Cookie: _cookie, 'X-CSRF-Token': _csrf, ...headers } = request.headers;
  return { ...request, headers: { ...headers, ...credential } };
}

/** The headers that a page sends. */
function authOf({ cookie, csrf }: UserAgent): Record<string, string> {
  return { Cookie: cookie ?? '', 'X-CSRF-Token': csrf ?? '' };
}

/** The body, or the first chunk of an endless one. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text();
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}

const successOf = (name: OperationName) => Number(Object.keys(OPERATIONS[name].responses)[0]);

/** Credentials that are invalid in the studio. */
const invalidCredentials = (): [string, Record<string, string>][] => [
  ['no credential', {}],
  ['a viewer token', { Authorization: `Bearer ${viewerToken}` }],
  ['a viewer token as a service token', { Authorization: `Token ${viewerToken}` }],
  ['an unknown service token', { Authorization: `Token fb_${'a'.repeat(40)}` }],
  ['no service token', { Authorization: 'Token x' }],
  ['a revoked service token', { Authorization: `Token ${revokedToken}` }],
  ['a service token as a viewer token', { Authorization: `Bearer ${service.account.token}` }],
  ['a service token without a scheme', { Authorization: service.account.token }],
  ['an unknown presenter key', { Authorization: `Presenter pk_${'a'.repeat(40)}` }],
  ['the presenter key of another show', { Authorization: `Presenter ${otherShowsKey}` }],
  ['an unknown cookie', { Cookie: `fourbeat=${'a'.repeat(43)}` }],
  ['a session that was ended', authOf(ended)],
  ['a session that time has ended', authOf(expired)],
  [
    'a wrong token with the cookie of an owner',
    { ...authOf(members.owner.browser), Authorization: 'Token x' },
  ],
];

/** Invalid writes with a valid cookie. */
const forgedHeaders = (right: Record<string, string>): [string, Record<string, string>][] => [
  ['no CSRF token', { Cookie: right.Cookie ?? '' }],
  ['the CSRF token of somebody else', { ...right, 'X-CSRF-Token': otherOwner.browser.csrf ?? '' }],
  ['the page of another origin', { ...right, Origin: 'https://evil.example' }],
  ['the page of another site', { ...right, 'Sec-Fetch-Site': 'cross-site' }],
];

async function expectRejected(request: ValidRequest, attempts: [string, Record<string, string>][]) {
  for (const [what, credential] of attempts) {
    const response = await send(service, withAuth(request, credential));
    expect([request.name, what, response.status]).toEqual([request.name, what, 401]);
    await expectUnauthorized(response, 'Token');
  }
}

test('[U-9] every operation has a row in this test', () => {
  expect(ROWS.map(([name]) => name).sort()).toEqual([...NAMES].sort());
});

test('[U-9] the OpenAPI document states the allowed roles and credentials', () => {
  const { paths } = openApiDocument('1.2.3');
  for (const name of NAMES) {
    const { method, path } = OPERATIONS[name];
    const { description = '', security } = paths[path]?.[method.toLowerCase()] ?? {};
    const row = ROW_OF[name] as Row;
    const roles = ROLES_OF[row];
    const session = isWrite(name) ? { Session: [], CsrfToken: [] } : { Session: [] };
    if (roles.length > 0) {
      expect(description as string).toContain(`Allowed roles: ${roles.join(', ')}.`);
      const key = name === 'presentShow' ? [{ PresenterKey: [] }] : [];
      expect(security).toEqual([{ ServiceToken: [] }, session, ...key]);
    } else expect(security).toEqual(row === 'anybody' ? [] : [session]);
  }
});

describe.each(ACCOUNTS)('%s', (name) => {
  const roles = ROLES_OF[ROW_OF[name] as Row];
  const otherRoles = MEMBER_ROLES.filter((role) => !roles.includes(role));

  test(`[P-1] [U-4] [U-7] [U-9] [U-10] ${name} accepts service tokens and sessions of ${roles.join(', ')} only`, async () => {
    const request = await validRequest(service, name);
    await expectRejected(request, invalidCredentials());
    await expectRejected(
      request,
      otherRoles.map((role) => [role, authOf(members[role].browser)]),
    );
    if (isWrite(name)) {
      for (const role of roles) {
        await expectRejected(request, forgedHeaders(authOf(members[role].browser)));
      }
    }
    // The rejected calls had no effect: the operation still succeeds once for each allowed role.
    expect([name, (await send(service, request)).status]).toEqual([name, successOf(name)]);
    for (const role of roles) {
      const fresh = withAuth(await validRequest(service, name), authOf(members[role].browser));
      const response = await send(service, fresh);
      expect([name, role, response.status]).toEqual([name, role, successOf(name)]);
      expect(await textOf(response)).not.toContain('$argon2');
    }
  });

  test(`[P-2] [U-9] ${name} gives credentials of another account no access`, async () => {
    const request = await validRequest(service, name);
    const others = [{ Authorization: `Token ${other.token}` }, authOf(otherOwner.browser)];
    for (const credential of others) {
      const response = await send(service, withAuth(request, credential));
      const isAddressed = OPERATIONS[name].path.includes('{');
      const status = isAddressed ? 404 : successOf(name);
      expect([name, response.status]).toEqual([name, status]);
      // An operation without an id concerns the caller's own account.
      const text = await textOf(response);
      for (const { uuid, email } of Object.values(members)) {
        expect(text).not.toContain(uuid);
        expect(text).not.toContain(email);
      }
      expect(text).not.toContain(service.account.uuid);
    }
    expect([name, (await send(service, request)).status]).toEqual([name, successOf(name)]);
  });
});

describe.each(withRow('signed-in members'))('%s', (name) => {
  test(`[U-4] [U-7] [U-10] ${name} accepts a session of any role and no token`, async () => {
    const request = await validRequest(service, name);
    const { Cookie = '', 'X-CSRF-Token': csrf = '' } = request.headers;
    const right = { Cookie, 'X-CSRF-Token': csrf };
    const token = { Authorization: `Token ${service.account.token}` };
    await expectRejected(request, invalidCredentials());
    await expectRejected(request, [
      ['a service token', token],
      ['a service token beside the cookie', { ...right, ...token }],
      ...(isWrite(name) ? forgedHeaders(right) : []),
    ]);
    const response = await send(service, request);
    expect([name, response.status]).toEqual([name, successOf(name)]);
    expect(await response.text()).not.toContain('$argon2');
    for (const role of MEMBER_ROLES) {
      const { browser } = await newMember(service, role, await service.createAccount());
      const fresh = withAuth(await validRequest(service, name), authOf(browser));
      expect([name, role, (await send(service, fresh)).status]).toEqual([
        name,
        role,
        successOf(name),
      ]);
    }
  });
});

describe.each(withRow('anybody').filter((name) => !SETUP_OPERATIONS.includes(name)))(
  '%s',
  (name) => {
    test(`[U-1] [U-7] [U-16] ${name} needs no credential, and rejects requests from other origins`, async () => {
      const request = await validRequest(service, name);
      expect(request.headers.Authorization).toBeUndefined();
      const crossOrigin = forgedHeaders({}).filter(([what]) => what.startsWith('the page'));
      await expectRejected(request, crossOrigin);
      const response = await send(service, request);
      expect([name, response.status]).toEqual([name, successOf(name)]);
      const text = await response.text();
      for (const hidden of ['$argon2', PASSWORD]) expect(text).not.toContain(hidden);
      if (isWrite(name) && name !== 'lookAtLink') {
        const [cookie = ''] = response.headers.getSetCookie();
        expect(text).not.toContain(cookie.split(/[=;]/)[1] ?? '');
      }
    });
  },
);
