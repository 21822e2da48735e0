import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Invitation, Member, MemberRole } from '../../protocol/members.ts';
import { newMemberLink, newSetupLink } from '../../server/auth/members/links.ts';
import { expectNoContent, expectUnauthorized } from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { rawExchange, rawHead } from '../support/conformance/raw-http.ts';
import { SOME_BACKENDS } from '../support/full-run.ts';
import {
  type Account,
  expectJson,
  type Harness,
  type HarnessOptions,
  type ManualClock,
  startService,
} from '../support/harness/harness.ts';
import {
  inviteMember,
  newMember,
  PASSWORD,
  type SignedIn,
  tokenOf,
  UserAgent,
} from '../support/studio/user-agent.ts';

const DAY_MS = 24 * 3600_000;
const config = { rates: HIGH_RATES };

const statusesOf = async (responses: Promise<Response>[]) =>
  (await Promise.all(responses)).map(({ status }) => status).sort();

// PostgreSQL may run concurrently what SQLite runs one after the other. Every run has
// `test/races/members.test.ts` for that; `npm run test:full` runs all tests of this file on both.

describe.each(SOME_BACKENDS)('members on %s backends', (backends) => {
  let service: Harness;
  beforeAll(async () => {
    service = await startService({ backends, config });
  }, 30_000);
  afterAll(() => service.close());

  const passMs = (ms: number) => (service.clock as ManualClock).set(service.clock.nowMs() + ms);
  const accept = (token: string, fields: object = {}) =>
    new UserAgent(service.url).send('POST', '/invitations/accept', {
      ...{ token, name: 'Ada', password: PASSWORD },
      ...fields,
    });
  const look = (token: string) =>
    new UserAgent(service.url).send('POST', '/invitations/look', { token });
  const byToken = async <T>(path: string, { token }: Account): Promise<T[]> =>
    (
      await expectJson<{ results: T[] }>(
        await service.studio('GET', path, undefined, { token }),
        200,
      )
    ).results;
  const memberLink = async (email: string, account: string | null = null) => {
    const wanted = { email, account };
    const made = await newMemberLink(service.store, wanted, service.url, service.clock.nowMs());
    if (!made) throw new Error(`no link for ${email}`);
    return { ...made, token: tokenOf(made.link) };
  };

  describe('setup', () => {
    /** Runs a function with a service whose database has no member. */
    async function withNewService(
      run: (fresh: Harness, setUp: (token: string, email?: string) => Promise<Response>) => unknown,
      options: HarnessOptions = {},
    ) {
      const fresh = await startService({ backends, config, ...options });
      try {
        await run(fresh, (token, email = `${randomUUID()}@example.org`) =>
          new UserAgent(fresh.url).send('POST', '/setup', {
            ...{ token, name: 'Ada', email, password: PASSWORD },
          }),
        );
      } finally {
        await fresh.close();
      }
    }
    const newLink = ({ store, clock }: Harness) =>
      newSetupLink(store, 'https://live.example.org', clock.nowMs());
    const linkOf = async (fresh: Harness) => tokenOf((await newLink(fresh)) ?? '');

    test('[U-12] [U-13] setup creates an account and its owner, who is signed in', () =>
      withNewService(async (fresh) => {
        const link = await newLink(fresh);
        expect(link).toMatch(/^https:\/\/live\.example\.org\/studio\/#setup=[\w-]{43}$/);
        const browser = new UserAgent(fresh.url);
        const session = await browser.startSession('/setup', {
          ...{ token: tokenOf(link ?? ''), name: 'Ada', email: 'Ada@Example.org' },
          password: PASSWORD,
        });
        expect(session).toMatchObject({
          member: { email: 'ada@example.org', name: 'Ada', role: 'owner' },
          account: { email: 'ada@example.org', name: 'Ada' },
        });
        expect(session.account.uuid).not.toBe(fresh.account.uuid);
        const made = await browser.send('POST', '/streams', { title: 'The first' });
        const { producer } = await expectJson<{ producer: string }>(made, 201);
        expect(producer).toBe(session.account.uuid);
        const token = await browser.send('POST', '/api-tokens', { name: 'laptop' });
        expect(token.status).toBe(201);
        await new UserAgent(fresh.url).signIn('ada@example.org');
      }));

    test('[U-12] [U-17] setup is impossible once there is a member', () =>
      withNewService(async (fresh, setUp) => {
        const [one, two] = [await linkOf(fresh), await linkOf(fresh)];
        expect((await setUp(one)).status).toBe(201);
        expect(await newLink(fresh)).toBeNull();
        for (const token of [one, two]) await expectUnauthorized(await setUp(token), 'Token');
      }));

    test('[U-16] a look at a setup link leaves it valid, and says what to do about a link that is not', () =>
      withNewService(async (fresh, setUp) => {
        const look = (token: string) =>
          new UserAgent(fresh.url).send('POST', '/setup/look', { token });
        const token = await linkOf(fresh);
        for (const _ of [1, 2]) await expectNoContent(await look(token));
        const unknown = await expectUnauthorized(await look('unknown'), 'Token');
        expect(unknown.detail).toContain('Restart the service');
        expect((await setUp(token)).status).toBe(201);
        const used = await expectUnauthorized(await look(token), 'Token');
        expect(used.detail).toContain('already set up. Sign in');
      }));

    test('[U-12] setup is impossible also when the first member joined by an invitation', () =>
      withNewService(async (fresh, setUp) => {
        const token = await linkOf(fresh);
        await newMember(fresh, 'host');
        await expectUnauthorized(await setUp(token), 'Token');
        expect(await newLink(fresh)).toBeNull();
      }));

    test('[U-17] setup creates one account when many links are used concurrently', () =>
      withNewService(async (fresh, setUp) => {
        const tokens = [await linkOf(fresh), await linkOf(fresh)];
        const attempts = [...tokens, ...tokens, ...tokens].map((token) => setUp(token));
        expect(await statusesOf(attempts)).toEqual([201, 401, 401, 401, 401, 401]);
      }));

    test('[U-12] setup has at most 10 valid links, the newest', () =>
      withNewService(async (fresh, setUp) => {
        const tokens: string[] = [];
        for (let n = 0; n < 11; n++) tokens.push(await linkOf(fresh));
        await expectUnauthorized(await setUp(tokens[0] ?? ''), 'Token');
        expect((await setUp(tokens[1] ?? '')).status).toBe(201);
      }));

    test('[U-17] a setup link is valid for 24 h', () =>
      withNewService(async (fresh, setUp) => {
        const early = await linkOf(fresh);
        (fresh.clock as ManualClock).set(fresh.clock.nowMs() + 1);
        const late = await linkOf(fresh);
        (fresh.clock as ManualClock).set(fresh.clock.nowMs() + DAY_MS - 1);
        await expectUnauthorized(await setUp(early), 'Token');
        expect((await setUp(late)).status).toBe(201);
      }));

    test('[U-13] setup gets 409 for an e-mail with an account, and the link stays valid', () =>
      withNewService(async (fresh, setUp) => {
        await fresh.createAccount('ann@example.org');
        const token = await linkOf(fresh);
        const refused = await expectJson<{ detail: string }>(
          await setUp(token, 'ann@example.org'),
          409,
        );
        expect(refused.detail).toContain('fourbeat member link');
        expect((await setUp(token, 'bob@example.org')).status).toBe(201);
      }));

    test('[U-17] setup needs a setup link, which cannot be used as an invitation', () =>
      withNewService(async (fresh, setUp) => {
        const { token } = await inviteMember(fresh, 'owner');
        await expectUnauthorized(await setUp(token), 'Token');
        const setup = await linkOf(fresh);
        for (const path of ['/invitations/look', '/invitations/accept']) {
          const body = path.endsWith('look')
            ? { token: setup }
            : { token: setup, password: PASSWORD };
          const response = await new UserAgent(fresh.url).send('POST', path, body);
          await expectUnauthorized(response, 'Token');
        }
        expect((await setUp(setup)).status).toBe(201);
      }));
  });

  describe('an invitation', () => {
    test('[U-14] an invitation shows its link once, and is listed without it', async () => {
      const account = await service.createAccount();
      const { token } = account;
      const email = 'Grace@Example.org';
      const body = { email, role: 'moderator' };
      const response = await service.studio('POST', '/invitations', body, { token });
      const { link, ...made } = await expectJson<Invitation & { link: string }>(response, 201);
      const created = service.clock.nowMs();
      expect(made).toEqual({
        ...{ id: expect.any(String), email: 'grace@example.org', role: 'moderator', created },
        expires: created + 7 * DAY_MS,
      });
      expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/studio\/#invitation=[\w-]{43}$/);
      const later = await inviteMember(service, 'host', undefined, account);
      const list = await byToken<Invitation>('/invitations', account);
      expect(list.map(({ id }) => id)).toEqual([later.id, made.id]);
      expect(list[1]).toEqual(made);
    });

    test('[U-16] an invitation shows its purpose, and creates a member who is signed in', async () => {
      const account = await service.createAccount();
      const { token, email } = await inviteMember(service, 'moderator', undefined, account);
      const { name } = (await service.store.findAccount({ email })) ?? { name: 'A producer' };
      expect(await expectJson<object>(await look(token), 200)).toEqual({
        ...{ kind: 'invitation', email, role: 'moderator', account: { name } },
      });
      const browser = new UserAgent(service.url);
      const body = { token, name: 'Grace', password: PASSWORD };
      const session = await browser.startSession('/invitations/accept', body);
      expect(session).toMatchObject({
        member: { email, name: 'Grace', role: 'moderator' },
        account: { uuid: account.uuid },
      });
      expect(await byToken<Invitation>('/invitations', account)).toEqual([]);
      const [member] = await byToken<Member>('/members', account);
      expect(member?.uuid).toBe(session.member.uuid);
    });

    test('[U-16] an invitation that is accepted without a name gets 400 and stays valid', async () => {
      const { token } = await inviteMember(service, 'host');
      const refused = await accept(token, { name: undefined });
      expect((await expectJson<{ detail: string }>(refused, 400)).detail).toContain('name');
      expect((await accept(token)).status).toBe(201);
    });

    test('[U-17] an invitation works once, also when used concurrently', async () => {
      const account = await service.createAccount();
      const { token } = await inviteMember(service, 'host', undefined, account);
      const attempts = Array.from({ length: 6 }, () => accept(token));
      expect(await statusesOf(attempts)).toEqual([201, 401, 401, 401, 401, 401]);
      expect(await byToken<Member>('/members', account)).toHaveLength(1);
      await expectUnauthorized(await look(token), 'Token');
    });

    test('[U-14] [U-17] an invitation is invalid once withdrawn or replaced', async () => {
      const account = await service.createAccount();
      const first = await inviteMember(service, 'host', undefined, account);
      const second = await inviteMember(service, 'owner', first.email, account);
      await expectUnauthorized(await accept(first.token), 'Token');
      const { token } = account;
      const path = `/invitations/${second.id}`;
      await expectNoContent(await service.studio('DELETE', path, undefined, { token }));
      await expectUnauthorized(await accept(second.token), 'Token');
      await expectUnauthorized(await look(second.token), 'Token');
      expect((await service.studio('DELETE', path, undefined, { token })).status).toBe(404);
    });

    test.each(['removed', 'demoted'])(
      '[U-14] an invitation is withdrawn when an owner, who may have its link, is %s',
      async (what) => {
        const account = await service.createAccount();
        await newMember(service, 'owner', account);
        const { browser, uuid } = await newMember(service, 'owner', account);
        const host = await newMember(service, 'host', account);
        const body = { email: `${randomUUID()}@example.org`, role: 'owner' };
        const made = await browser.send('POST', '/invitations', body);
        const token = tokenOf((await expectJson<{ link: string }>(made, 201)).link);
        const { token: apiToken } = account;
        const change = (id: string) =>
          what === 'removed'
            ? service.studio('DELETE', `/members/${id}`, undefined, { token: apiToken })
            : service.studio('PATCH', `/members/${id}`, { role: 'moderator' }, { token: apiToken });
        // A host cannot invite, so an invitation outlives one.
        expect((await change(host.uuid)).ok).toBe(true);
        expect((await look(token)).status).toBe(200);
        expect((await change(uuid)).ok).toBe(true);
        await expectUnauthorized(await accept(token), 'Token');
        expect(await byToken<Invitation>('/invitations', account)).toEqual([]);
      },
    );

    test('[U-17] an invitation is valid for 7 days', async () => {
      const early = await inviteMember(service, 'host');
      passMs(1);
      const late = await inviteMember(service, 'host');
      passMs(7 * DAY_MS - 1);
      await expectUnauthorized(await look(early.token), 'Token');
      await expectUnauthorized(await accept(early.token), 'Token');
      expect((await accept(late.token)).status).toBe(201);
      const ids = (await byToken<Invitation>('/invitations', service.account)).map(({ id }) => id);
      expect(ids).not.toContain(early.id);
    });

    test('[U-14] [U-19] an invitation of a member gets 409, and of a member of another account when it is used', async () => {
      const { email } = await newMember(service, 'host');
      const body = { email: email.toUpperCase(), role: 'owner' };
      expect((await service.studio('POST', '/invitations', body)).status).toBe(409);
      const elsewhere = await service.createAccount();
      const { token } = await inviteMember(service, 'host', email, elsewhere);
      expect((await accept(token)).status).toBe(409);
      expect(await byToken<Member>('/members', elsewhere)).toEqual([]);
    });

    test('[U-19] invitations of one e-mail to two accounts, used concurrently, create one member', async () => {
      const email = `${randomUUID()}@example.org`;
      const accounts = [await service.createAccount(), await service.createAccount()];
      const links = await Promise.all(
        accounts.map((account) => inviteMember(service, 'host', email, account)),
      );
      const attempts = links.map(({ token }) => accept(token));
      expect(await statusesOf(attempts)).toEqual([201, 409]);
    });

    test('[U-21] an account has at most 100 open invitations', async () => {
      const account = await service.createAccount();
      for (let n = 0; n < 100; n++) await inviteMember(service, 'host', undefined, account);
      const { token } = account;
      const body = { email: 'one.too.many@example.org', role: 'host' };
      const refused = await service.studio('POST', '/invitations', body, { token });
      expect(refused.status).toBe(409);
      passMs(7 * DAY_MS);
      expect((await service.studio('POST', '/invitations', body, { token })).status).toBe(201);
    });
  });

  describe('a password link of the operator', () => {
    test('[U-15] [U-16] a password link sets a new password and ends all sessions', async () => {
      const { browser, email } = await newMember(service, 'moderator');
      const { kind, token, expires } = await memberLink(email.toUpperCase());
      expect([kind, expires]).toEqual(['password', service.clock.nowMs() + DAY_MS]);
      expect(await expectJson<object>(await look(token), 200)).toEqual({
        ...{ kind: 'password', email, role: 'moderator', account: { name: 'A producer' } },
      });
      const password = 'a password to remember';
      const used = new UserAgent(service.url);
      const session = await used.startSession('/invitations/accept', { token, password });
      expect(session.member).toMatchObject({ email, name: 'A moderator', role: 'moderator' });
      expect((await browser.send('GET', '/session')).status).toBe(401);
      expect((await used.send('GET', '/session')).status).toBe(200);
      const old = { email, password: PASSWORD };
      expect((await browser.send('POST', '/session', old)).status).toBe(401);
      await browser.signIn(email, password);
      await expectUnauthorized(await accept(token), 'Token');
    });

    test('[U-15] a password link creates the owner of an account without members', async () => {
      const email = `Ann-${randomUUID()}@example.org`;
      const account = await service.createAccount(email);
      const { kind, token } = await memberLink(email);
      expect(kind).toBe('invitation');
      const session = await new UserAgent(service.url).startSession('/invitations/accept', {
        ...{ token, name: 'Ann', password: PASSWORD },
      });
      expect(session).toMatchObject({
        member: { email: email.toLowerCase(), role: 'owner' },
        account: { uuid: account.uuid, email },
      });
    });

    test('[U-15] [U-17] a password link is valid for 24 h if it is the newest', async () => {
      const { email } = await newMember(service, 'host');
      const [first, second] = [await memberLink(email), await memberLink(email)];
      await expectUnauthorized(await accept(first.token), 'Token');
      passMs(DAY_MS);
      await expectUnauthorized(await accept(second.token), 'Token');
    });

    test('[U-17] a password link is invalid once the member was removed or changed the password', async () => {
      const gone = await newMember(service, 'host');
      const links = [await memberLink(gone.email)];
      await expectNoContent(await service.studio('DELETE', `/members/${gone.uuid}`));
      const changed = await newMember(service, 'host');
      links.push(await memberLink(changed.email));
      const body = { password: 'a password of mine', currentPassword: PASSWORD };
      await expectJson(await changed.browser.send('PATCH', '/session/member', body), 200);
      for (const { token } of links) await expectUnauthorized(await accept(token), 'Token');
    });

    test('[U-15] a password link cannot be created for an unknown e-mail', async () => {
      const wanted = { email: 'nobody@example.org', account: null };
      expect(await newMemberLink(service.store, wanted, service.url, 0)).toBeNull();
      const unknown = randomUUID();
      const refused = await memberLink(wanted.email, unknown).catch((error) => error);
      expect([refused.kind, refused.message]).toEqual([
        'not-found',
        `No account has the email or id ${unknown}.`,
      ]);
    });

    test('[U-15] a link never opens another account than the one with its e-mail, unless the operator chooses that one', async () => {
      const email = `ann-${randomUUID()}@corp.example`;
      // Nothing verifies the email of an invitation: an account can use its link itself.
      const hostile = await service.createAccount();
      const taken = await newMember(service, 'host', hostile, email);
      const corp = await service.createAccount(email.toUpperCase());
      for (const account of [null, corp.uuid, email]) {
        const refused = await memberLink(email, account).catch((error) => error);
        expect(refused.kind).toBe('conflict');
        expect(refused.message).toContain(hostile.uuid);
        expect(refused.message).toContain(`fourbeat member remove --email ${email}`);
      }
      const chosen = await memberLink(email, hostile.uuid);
      expect(chosen.kind).toBe('password');
      expect(chosen.account).toEqual({ uuid: hostile.uuid, name: 'A producer' });

      const input = { account: hostile.uuid, uuid: taken.uuid, by: null, lastOwner: false };
      await service.store.removeMember(input);
      await expectUnauthorized(await look(chosen.token), 'Token');
      const made = await memberLink(email);
      expect(made).toMatchObject({ kind: 'invitation', account: { uuid: corp.uuid } });
      const session = await new UserAgent(service.url).startSession('/invitations/accept', {
        ...{ token: made.token, name: 'Ann', password: PASSWORD },
      });
      expect(session).toMatchObject({ member: { role: 'owner' }, account: { uuid: corp.uuid } });
      expect(await memberLink(email)).toMatchObject({
        ...{ kind: 'password', account: { uuid: corp.uuid } },
      });
    });

    test('[U-15] a link adds an owner with any e-mail to the account that the operator chooses', async () => {
      const account = await service.createAccount();
      const { kind, token } = await memberLink(`${randomUUID()}@example.org`, account.uuid);
      expect(kind).toBe('invitation');
      expect((await accept(token)).status).toBe(201);
      expect(await byToken<Member>('/members', account)).toMatchObject([{ role: 'owner' }]);
    });
  });

  describe('members', () => {
    test('[U-19] members are listed in the order in which they joined', async () => {
      const account = await service.createAccount();
      const roles: MemberRole[] = ['owner', 'host', 'moderator'];
      const made: SignedIn[] = [];
      for (const role of roles) made.push(await newMember(service, role, account));
      const created = service.clock.nowMs();
      expect(await byToken<Member>('/members', account)).toEqual(
        made.map(({ uuid, email }, index) => {
          const role = roles[index] as MemberRole;
          return { uuid, email, name: `A ${role}`, role, created };
        }),
      );
    });

    test('[U-19] [U-8] members get a new role at once in every session', async () => {
      const { browser, uuid } = await newMember(service, 'host');
      const body = { title: 'A show' };
      expect((await browser.send('POST', '/streams', body)).status).toBe(201);
      const response = await service.studio('PATCH', `/members/${uuid}`, { role: 'moderator' });
      expect((await expectJson<Member>(response, 200)).role).toBe('moderator');
      await expectUnauthorized(await browser.send('POST', '/streams', body), 'Token');
      expect((await browser.send('GET', '/streams')).status).toBe(200);
    });

    test('[U-19] [U-8] members lose access at once when removed, and their e-mail is free', async () => {
      const { browser, uuid, email } = await newMember(service, 'host');
      expect((await browser.send('GET', '/streams')).status).toBe(200);
      await expectNoContent(await service.studio('DELETE', `/members/${uuid}`));
      await expectUnauthorized(await browser.send('GET', '/streams'), 'Token');
      const attempt = new UserAgent(service.url).send('POST', '/session', {
        ...{ email, password: PASSWORD },
      });
      await expectUnauthorized(await attempt, 'Token');
      const again = await newMember(service, 'moderator', service.account, email);
      expect(again.uuid).not.toBe(uuid);
    });

    test('[U-8] [A-8] a write does nothing when its member, role or token ends before its body', async () => {
      const account = await service.createAccount();
      await newMember(service, 'owner', account);
      const { browser, uuid } = await newMember(service, 'owner', account);
      const host = await newMember(service, 'host', account);
      const byAccount = (method: string, path: string, body?: unknown) =>
        service.studio(method, path, body, { token: account.token });
      const { id, token } = await expectJson<{ id: string; token: string }>(
        await byAccount('POST', '/api-tokens', { name: 'a program' }),
        201,
      );
      const sessionOf = ({ cookie, csrf }: UserAgent) => ({
        ...{ Cookie: cookie ?? '', 'X-CSRF-Token': csrf ?? '' },
      });
      const sendSlowly = (request: string, body: object, credential: Record<string, string>) => {
        const json = JSON.stringify(body);
        const type = { 'Content-Type': 'application/json', 'Content-Length': String(json.length) };
        const head = rawHead(request, { ...credential, ...type });
        return rawExchange(service.url, [head, json.slice(0, 1), 500, json.slice(1)]);
      };
      const owner = sessionOf(browser);
      const leaver = await newMember(service, 'moderator', service.account);
      const invitation = { email: 'again@example.org', role: 'owner' };
      const byProgram = { Authorization: `Token ${token}` };
      const requests = [
        sendSlowly('POST /studio/v1/invitations', invitation, owner),
        sendSlowly('POST /studio/v1/api-tokens', { name: 'again' }, owner),
        sendSlowly(`PATCH /studio/v1/members/${host.uuid}`, { role: 'owner' }, owner),
        sendSlowly('POST /studio/v1/streams', { title: 'A show' }, sessionOf(host.browser)),
        sendSlowly('POST /studio/v1/api-tokens', { name: 'again' }, byProgram),
        sendSlowly('PATCH /studio/v1/session/member', { name: 'Eve' }, sessionOf(leaver.browser)),
      ];
      await Bun.sleep(200);
      await expectNoContent(await byAccount('DELETE', `/members/${uuid}`));
      const role = { role: 'moderator' };
      await expectJson(await byAccount('PATCH', `/members/${host.uuid}`, role), 200);
      await expectNoContent(await byAccount('DELETE', `/api-tokens/${id}`));
      await expectNoContent(await leaver.browser.send('DELETE', '/sessions'));
      const statuses = (await Promise.all(requests)).map(({ status }) => status);
      expect(statuses).toEqual(requests.map(() => 401));
      expect(await byToken<Invitation>('/invitations', account)).toEqual([]);
      expect(await byToken('/api-tokens', account)).toHaveLength(1);
      const members = await byToken<Member>('/members', account);
      expect(members.map((member) => member.role)).toEqual(['owner', 'moderator']);
    });

    test('[U-20] removing the last owner, or changing the role, gets 409', async () => {
      const account = await service.createAccount();
      const { browser, uuid } = await newMember(service, 'owner', account);
      const host = await newMember(service, 'host', account);
      const path = `/members/${uuid}`;
      for (const role of ['host', 'moderator']) {
        expect((await browser.send('PATCH', path, { role })).status).toBe(409);
      }
      expect((await browser.send('DELETE', path)).status).toBe(409);
      const second = { role: 'owner' };
      await expectJson(await browser.send('PATCH', `/members/${host.uuid}`, second), 200);
      await expectNoContent(await browser.send('DELETE', path));
      expect((await host.browser.send('DELETE', `/members/${host.uuid}`)).status).toBe(409);
    });

    test('[U-20] [U-22] only the operator can remove the last owner of an account', async () => {
      const account = await service.createAccount();
      const { browser, uuid, email } = await newMember(service, 'owner', account);
      const found = await service.store.findMember({ email: email.toUpperCase() });
      expect(found).toEqual({ uuid, email, account: { uuid: account.uuid, name: 'A producer' } });
      const input = { account: account.uuid, uuid, by: null };
      const refused = service.store.removeMember({ ...input, lastOwner: false });
      expect(await refused.catch(({ kind }) => kind)).toBe('conflict');
      expect((await browser.send('GET', '/session')).status).toBe(200);
      await service.store.removeMember({ ...input, lastOwner: true });
      expect(await service.store.findMember({ email })).toBeNull();
      expect(await byToken<Member>('/members', account)).toEqual([]);
    });

    test('[U-20] an owner remains also when all owners leave concurrently', async () => {
      const account = await service.createAccount();
      const owners = [
        await newMember(service, 'owner', account),
        await newMember(service, 'owner', account),
        await newMember(service, 'owner', account),
      ];
      await Promise.all(
        owners.map(({ browser, uuid }, index) =>
          index === 1
            ? browser.send('DELETE', `/members/${uuid}`)
            : browser.send('PATCH', `/members/${uuid}`, { role: 'host' }),
        ),
      );
      const left = await byToken<Member>('/members', account);
      expect(left.filter(({ role }) => role === 'owner')).toHaveLength(1);
    });

    test('[U-21] an account has at most 100 members, also when two join concurrently', async () => {
      const account = await service.createAccount();
      // Inserted directly, since hashing their passwords would take too long.
      for (let n = 0; n < 99; n++) await insertMember(account, n);
      const links = [
        await inviteMember(service, 'host', undefined, account),
        await inviteMember(service, 'host', undefined, account),
      ];
      expect(await statusesOf(links.map(({ token }) => accept(token)))).toEqual([201, 409]);
      expect(await byToken<Member>('/members', account)).toHaveLength(100);
    });

    async function insertMember(account: Account, n: number): Promise<void> {
      const nowMs = service.clock.nowMs();
      const fresh = () => `${randomUUID()}-${n}`;
      const hash = fresh();
      const link = { id: fresh(), hash, nowMs };
      const email = `${fresh()}@example.org`;
      await service.store.invite({ account: account.uuid, by: null, email, role: 'host', link });
      const session = { hash: fresh(), replaced: null, nowMs };
      const passwordHash = 'none';
      await service.store.acceptLink({ hash, uuid: fresh(), name: 'A', passwordHash, session });
    }

    test('[U-8] a member who is removed during a sign-in has no session', async () => {
      for (let round = 0; round < 5; round++) {
        const { uuid, email } = await newMember(service, 'host');
        const browser = new UserAgent(service.url);
        const body = { email, password: PASSWORD };
        await Promise.all([
          browser.send('POST', '/session', body),
          Bun.sleep(round * 15).then(() => service.studio('DELETE', `/members/${uuid}`)),
        ]);
        expect((await browser.send('GET', '/session')).status).toBe(401);
      }
    });
  });
});

test('[U-8] [N-3] a session is valid on another node, which learns of its end within 1 s', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
  const options = { backends: 'shared', directory, config } as const;
  const [here, there] = [await startService(options), await startService(options)];
  try {
    const { browser, uuid } = await newMember(here, 'host');
    const elsewhere = new UserAgent(there.url);
    elsewhere.cookie = browser.cookie;
    elsewhere.csrf = browser.csrf;
    const body = { title: 'A show' };
    expect((await elsewhere.send('POST', '/streams', body)).status).toBe(201);
    await here.studio('PATCH', `/members/${uuid}`, { role: 'moderator' });
    await Bun.sleep(1_000);
    await expectUnauthorized(await elsewhere.send('POST', '/streams', body), 'Token');
    expect((await elsewhere.send('GET', '/streams')).status).toBe(200);
    await expectNoContent(await browser.send('DELETE', '/sessions'));
    await Bun.sleep(1_000);
    await expectUnauthorized(await elsewhere.send('GET', '/streams'), 'Token');
  } finally {
    await Promise.all([here.close(), there.close()]);
    rmSync(directory, { recursive: true, force: true });
  }
}, 60_000);

test('[U-8] [U-14] [N-3] a removed owner leaves no access behind through a node that has not learned of it', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
  const options = { backends: 'shared', directory, config } as const;
  const [here, there] = [await startService(options), await startService(options)];
  try {
    const { browser, uuid } = await newMember(here, 'owner');
    const host = await newMember(here, 'host');
    await newMember(here, 'owner');
    const elsewhere = new UserAgent(there.url);
    elsewhere.cookie = browser.cookie;
    elsewhere.csrf = browser.csrf;
    expect((await elsewhere.send('GET', '/members')).status).toBe(200);
    await expectNoContent(await here.studio('DELETE', `/members/${uuid}`));
    const invitation = { email: 'again@example.org', role: 'owner' };
    const writes = [
      ['POST', '/invitations', invitation],
      ['POST', '/api-tokens', { name: 'again' }],
      ['PATCH', `/members/${host.uuid}`, { role: 'owner' }],
      ['DELETE', `/members/${host.uuid}`, undefined],
    ] as const;
    for (const [method, path, body] of writes) {
      await expectUnauthorized(await elsewhere.send(method, path, body), 'Token');
    }
    const listed = await here.studio('GET', '/invitations');
    expect(await expectJson<object>(listed, 200)).toEqual({ results: [] });
  } finally {
    await Promise.all([here.close(), there.close()]);
    rmSync(directory, { recursive: true, force: true });
  }
}, 60_000);
