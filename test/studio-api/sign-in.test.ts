import { describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { ProblemBody } from '../../protocol/problem.ts';
import { expectNoContent, expectUnauthorized } from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import {
  databaseFiles,
  expectJson,
  type Harness,
  startService,
} from '../support/harness/harness.ts';
import { temporaryFolder } from '../support/harness/program.ts';
import { inviteMember, newMember, PASSWORD, UserAgent } from '../support/studio/user-agent.ts';

const HOUR_MS = 3600_000;

const service = await serviceOfFile();

const isActive = async (browser: UserAgent) =>
  (await browser.send('GET', '/session')).status === 200;

/** Signs the same member in from another browser. */
async function signInElsewhere(email: string, password = PASSWORD): Promise<UserAgent> {
  const browser = new UserAgent(service.url);
  await browser.signIn(email, password);
  return browser;
}

/** Expects that a sign-in gets 401. @returns the body */
async function expectRejectedSignIn(email: string, password: string): Promise<ProblemBody> {
  const response = await new UserAgent(service.url).send('POST', '/session', {
    email,
    password,
  });
  return expectUnauthorized(response, 'Token');
}

describe('signing in', () => {
  test('[U-1] a sign-in returns the member, the account and what writes need', async () => {
    const { uuid, email } = await newMember(service, 'host');
    const browser = new UserAgent(service.url);
    const session = await browser.signIn(email);
    const created = service.clock.nowMs();
    const read = await service.studio('GET', '/account');
    const account = await expectJson<{ name: string; email: string }>(read, 200);
    expect(session).toEqual({
      member: { uuid, email, name: 'A host', role: 'host' },
      account: { uuid: service.account.uuid, name: account.name, email: account.email },
      csrf: expect.stringMatching(/^[\w-]{43}$/),
      created,
      expires: created + 12 * HOUR_MS,
    });
    expect(await expectJson<object>(await browser.send('GET', '/session'), 200)).toEqual(session);
  });

  test('[U-2] a sign-in gets the same error for a wrong password and an unknown e-mail', async () => {
    const { email } = await newMember(service, 'host');
    const wrong = await expectRejectedSignIn(email, 'not the password');
    expect(await expectRejectedSignIn(`${randomUUID()}@example.org`, PASSWORD)).toEqual(wrong);
    expect(wrong.detail).not.toContain(email);
  });

  test('[U-1] [U-19] the e-mail is matched in any case', async () => {
    const { email, uuid } = await newMember(service, 'host');
    const session = await new UserAgent(service.url).signIn(email.toUpperCase());
    expect(session.member.uuid).toBe(uuid);
  });

  test('[U-3] a sign-in sets a new cookie each time and ignores a planted one', async () => {
    const { email, browser } = await newMember(service, 'host');
    const planted = `fourbeat=${'A'.repeat(43)}`;
    const victim = new UserAgent(service.url);
    victim.cookie = planted;
    await victim.signIn(email);
    expect(victim.cookie).not.toBe(planted);
    expect(victim.cookie).not.toBe(browser.cookie);
    const attacker = new UserAgent(service.url);
    attacker.cookie = planted;
    expect(await isActive(attacker)).toBe(false);
  });

  test('[U-3] a sign-in ends the previous session of the browser', async () => {
    const { email, browser } = await newMember(service, 'host');
    const before = browser.cookie;
    await browser.signIn(email);
    expect(await isActive(browser)).toBe(true);
    browser.cookie = before;
    expect(await isActive(browser)).toBe(false);
  });

  test('[U-3] a link ends the previous session of the browser', async () => {
    const { browser } = await newMember(service, 'host');
    const before = browser.cookie;
    const { token } = await inviteMember(service, 'host');
    const body = { token, name: 'Another', password: PASSWORD };
    await browser.startSession('/invitations/accept', body);
    expect(await isActive(browser)).toBe(true);
    browser.cookie = before;
    expect(await isActive(browser)).toBe(false);
  });

  test('[U-3] a sign-in over https sets a Secure cookie with the prefix `__Host-`', async () => {
    const rates = HIGH_RATES;
    await using secure = await startService({
      config: { rates, publicUrl: 'https://live.example.org' },
    });
    const { email, browser } = await newMember(secure, 'host');
    const body = { email, password: PASSWORD };
    const response = await browser.send('POST', '/session', body);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-fourbeat=[\w-]{43}; /);
    expect(cookie.split('; ')).toContain('Secure');
    expect((await browser.send('GET', '/session')).status).toBe(200);
    browser.cookie = (browser.cookie ?? '').replace('__Host-', '');
    expect((await browser.send('GET', '/session')).status).toBe(401);
  });

  test('[U-3] [U-11] [U-17] the database contains no cookie, password or link token', async () => {
    const { browser } = await newMember(service, 'host');
    const secret = browser.cookie?.split('=')[1] ?? 'none';
    const { token } = await inviteMember(service, 'host');
    const files = databaseFiles(service);
    expect(files.some((text) => text.includes('$argon2id$v=19$m=19456,t=2,p=1$'))).toBe(true);
    for (const hidden of [secret, token, PASSWORD, browser.csrf ?? 'none']) {
      expect(files.some((text) => text.includes(hidden))).toBe(false);
    }
  });

  test('[U-11] a sign-in replaces a password hash of another cost', async () => {
    const { email } = await newMember(service, 'host');
    const hashNow = async () => (await service.store.findSignIn({ email }))?.passwordHash ?? '';
    const cheap = await Bun.password.hash(PASSWORD, {
      algorithm: 'argon2id',
      memoryCost: 8_192,
      timeCost: 1,
    });
    const { member } = (await service.store.findSignIn({ email })) ?? { member: '' };
    const change = { old: await hashNow(), next: cheap };
    await service.store.changeOwnMember({
      ...{ uuid: member, session: '', name: null },
      password: change,
    });
    await signInElsewhere(email);
    expect(await hashNow()).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
    await signInElsewhere(email);
  });

  test('[U-11] sign-ins get 503 while too many wait, and recover', async () => {
    const { email } = await newMember(service, 'host');
    const attempts = Array.from({ length: 60 }, () =>
      new UserAgent(service.url).send('POST', '/session', {
        email,
        password: 'not the password',
      }),
    );
    const statuses = (await Promise.all(attempts)).map((response) => {
      if (response.status === 503) expect(response.headers.get('retry-after')).toBe('1');
      return response.status;
    });
    expect(new Set(statuses)).toEqual(new Set([401, 503]));
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(34);
    await signInElsewhere(email);
  }, 60_000);

  test('[U-11] many known devices of an account take the turns of one', async () => {
    const { email } = await newMember(service, 'host');
    const other = await newMember(service, 'host', await service.createAccount());
    const devices = Array.from({ length: 50 }, () => new UserAgent(service.url));
    for (let at = 0; at < devices.length; at += 10) {
      await Promise.all(devices.slice(at, at + 10).map((device) => device.signIn(email)));
    }
    const wrong = { email, password: 'not the password' };
    const attempts = devices.map((device) => device.send('POST', '/session', wrong));
    await Promise.all([signInElsewhere(email), other.browser.signIn(other.email)]);
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses).toContain(503);
  }, 60_000);

  test('[U-11] many links of an account take the turns of one', async () => {
    const account = await service.createAccount();
    const { email, browser } = await newMember(service, 'host');
    const links = await Promise.all(
      Array.from({ length: 50 }, () => inviteMember(service, 'host', undefined, account)),
    );
    const accepts = links.map(({ token }) =>
      new UserAgent(service.url).send('POST', '/invitations/accept', { token, password: PASSWORD }),
    );
    await Promise.all([signInElsewhere(email), browser.signIn(email)]);
    const statuses = (await Promise.all(accepts)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([400, 503]));
  }, 60_000);
});

describe('rate limits of sign-in', () => {
  const withRates = async (rates: object, run: (harness: Harness) => Promise<void>) => {
    const config = { rates: { ...HIGH_RATES, ...rates }, trustProxy: true };
    await using harness = await startService({ config });
    await run(harness);
  };

  test('[L-16] [L-9] rate limits count passwords by address and e-mail: nobody locks a member out', () =>
    withRates({ passwords: { points: 3, durationS: 60 } }, async (harness) => {
      const { email, browser } = await newMember(harness, 'host');
      const other = await newMember(harness, 'host');
      const attempt = async (address: string, tried: string, password: string) => {
        const headers = { 'X-Forwarded-For': address };
        const body = { email: tried, password };
        return (await new UserAgent(harness.url).send('POST', '/session', body, headers)).status;
      };
      const guess = async (address: string) => {
        for (let n = 0; n < 3; n++) {
          expect(await attempt(address, email, 'not the password')).toBe(401);
        }
        expect(await attempt(address, email, PASSWORD)).toBe(429);
        expect(await attempt(address, email.toUpperCase(), PASSWORD)).toBe(429);
      };
      await guess('192.0.2.1');
      expect(await attempt('192.0.2.1', other.email, PASSWORD)).toBe(201);
      expect(await attempt('192.0.2.2', email, PASSWORD)).toBe(201);
      // 30 attempts from all addresses. The member's browser is known, wherever it is.
      for (let n = 3; n < 11; n++) await guess(`192.0.2.${n}`);
      for (let n = 0; n < 2; n++) await attempt('192.0.2.11', email, 'not the password');
      expect(await attempt('192.0.2.99', email, PASSWORD)).toBe(429);
      await browser.signIn(email);
      for (let n = 0; n < 2; n++) {
        const body = { email, password: 'not the password' };
        expect((await browser.send('POST', '/session', body)).status).toBe(401);
      }
      const guessed = { email: other.email, password: 'not the password' };
      for (let n = 0; n < 10; n++) await browser.send('POST', '/session', guessed);
      expect((await browser.send('POST', '/session', guessed)).status).toBe(429);
    }));

  test('[L-16] rate limits know the browsers of members after a restart and after sign-out', async () => {
    using folder = temporaryFolder();
    const directory = folder.path('data');
    const config = {
      rates: { ...HIGH_RATES, passwords: { points: 3, durationS: 60 } },
      trustProxy: true,
    };
    const before = await startService({ config, directory });
    const { email, browser } = await newMember(before, 'host');
    const { device } = browser;
    await expectNoContent(await browser.send('DELETE', '/session'));
    await before.close();
    await using after = await startService({ config, directory });
    const body = { email, password: 'not the password' };
    for (let n = 0; n < 33; n++) {
      const headers = { 'X-Forwarded-For': `192.0.2.${n}` };
      await new UserAgent(after.url).send('POST', '/session', body, headers);
    }
    const stranger = await new UserAgent(after.url).send('POST', '/session', {
      email,
      password: PASSWORD,
    });
    expect(stranger.status).toBe(429);
    const known = new UserAgent(after.url);
    known.device = device;
    await known.signIn(email);
  });

  test('[L-16] rate limits count browsers of a removed member apart from those of the next one with its e-mail', () =>
    withRates({ passwords: { points: 3, durationS: 60 } }, async (harness) => {
      const removed = await newMember(harness, 'host');
      const { email } = removed;
      const old = [removed.browser];
      for (let n = 0; n < 9; n++) {
        const browser = new UserAgent(harness.url);
        const body = { email, password: PASSWORD };
        const from = { 'X-Forwarded-For': `192.0.2.${n}` };
        expect((await browser.send('POST', '/session', body, from)).status).toBe(201);
        old.push(browser);
      }
      await expectNoContent(await harness.studio('DELETE', `/members/${removed.uuid}`));
      const next = await newMember(harness, 'host', harness.account, email);
      const wrong = { email, password: 'not the password' };
      for (const browser of old) {
        for (let n = 0; n < 3; n++) await browser.send('POST', '/session', wrong);
      }
      await next.browser.signIn(email);
    }));

  test('[L-16] rate limits count unknown e-mails in the same way', () =>
    withRates({ passwords: { points: 2, durationS: 60 } }, async (harness) => {
      const body = { email: 'nobody@example.org', password: 'not the password' };
      const statuses: number[] = [];
      for (let n = 0; n < 3; n++) {
        statuses.push((await new UserAgent(harness.url).send('POST', '/session', body)).status);
      }
      expect(statuses).toEqual([401, 401, 429]);
    }));

  test('[L-16] [U-18] rate limits count the passwords of signed-in members too', () =>
    withRates({ passwords: { points: 2, durationS: 60 } }, async (harness) => {
      const { browser } = await newMember(harness, 'host');
      const body = { password: 'a new password', currentPassword: 'not the password' };
      const statuses: number[] = [];
      for (let n = 0; n < 3; n++) {
        statuses.push((await browser.send('PATCH', '/session/member', body)).status);
      }
      expect(statuses).toEqual([400, 400, 429]);
      expect((await browser.send('GET', '/session')).status).toBe(200);
    }));

  test('[L-15] rate limits let the browser of a member in, from an address that others have used up', () =>
    withRates({ signIn: { points: 2, durationS: 60 } }, async (harness) => {
      const headers = { 'X-Forwarded-For': '192.0.2.1' };
      const { email, browser } = await newMember(harness, 'host');
      const other = await newMember(harness, 'host');
      const attempt = async (agent: UserAgent, tried: string, password: string) =>
        (await agent.send('POST', '/session', { email: tried, password }, headers)).status;
      const guesser = new UserAgent(harness.url);
      for (let n = 0; n < 2; n++) expect(await attempt(guesser, email, 'a wrong one')).toBe(401);
      expect(await attempt(guesser, email, PASSWORD)).toBe(429);
      expect(await attempt(browser, email, PASSWORD)).toBe(201);
      // Its cookie is for no other email, and a made-up one is for none.
      expect(await attempt(browser, other.email, PASSWORD)).toBe(429);
      const [made, up] = ['A'.repeat(43), 'B'.repeat(43)];
      guesser.device = `fourbeat-device=${made}.${crypto.randomUUID()}.${Date.now()}.${up}`;
      expect(await attempt(guesser, email, PASSWORD)).toBe(429);
      // Nor is that of a removed member.
      await expectNoContent(await harness.studio('DELETE', `/members/${other.uuid}`));
      expect(await attempt(other.browser, other.email, PASSWORD)).toBe(429);
    }));

  test('[L-15] [L-9] rate limits count sign-ins and links by address', () =>
    withRates({ signIn: { points: 3, durationS: 60 } }, async (harness) => {
      const browser = new UserAgent(harness.url);
      const from = (address: string, path: string) =>
        browser.send('POST', path, { token: 'x' }, { 'X-Forwarded-For': address });
      expect((await from('192.0.2.1', '/invitations/look')).status).toBe(401);
      expect((await from('192.0.2.1', '/invitations/accept')).status).toBe(400);
      expect((await from('192.0.2.1', '/session')).status).toBe(400);
      const refused = await from('192.0.2.1', '/setup');
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect((await from('192.0.2.2', '/invitations/look')).status).toBe(401);
    }));
});

describe('a session', () => {
  test('[U-4] a session opens the studio operations of its role and nothing of /api/v1', async () => {
    const { browser } = await newMember(service, 'host');
    const made = await browser.send('POST', '/streams', { title: 'By a member' });
    const { id } = await expectJson<{ id: string }>(made, 201);
    expect((await service.studio('GET', `/streams/${id}`)).status).toBe(200);
    const headers = { Cookie: browser.cookie ?? '' };
    const me = await fetch(`${service.url}/api/v1/users/me`, { headers });
    await expectUnauthorized(me, 'Token');
    const count = await fetch(`${service.url}/api/v1/view-counts/${id}`, { headers });
    await expectUnauthorized(count, 'Bearer');
  });

  test('[U-4] a session is ignored when there is an Authorization header', async () => {
    const { browser } = await newMember(service, 'moderator');
    const Authorization = `Token ${service.account.token}`;
    const body = { title: 'By the token' };
    // The rights of the token apply: a moderator cannot create a stream, an account can.
    expect((await browser.send('POST', '/streams', body)).status).toBe(401);
    expect((await browser.send('POST', '/streams', body, { Authorization })).status).toBe(201);
    for (const wrong of ['Token x', 'Bearer x', 'Basic eDp5', 'nonsense']) {
      const response = await browser.send('GET', '/streams', undefined, { Authorization: wrong });
      expect(response.status).toBe(401);
    }
    expect((await browser.send('GET', '/session', undefined, { Authorization })).status).toBe(401);
  });

  test('[U-4] a session gets 401 after its end, with the advice to sign in', async () => {
    const { browser } = await newMember(service, 'host');
    const { cookie } = browser;
    await expectNoContent(await browser.send('DELETE', '/session'));
    browser.cookie = cookie;
    const { detail } = await expectUnauthorized(await browser.send('GET', '/streams'), 'Token');
    expect(detail).toContain('Sign in');
  });

  test('[U-5] a session lasts 12 h after its last use', async () => {
    const { browser, email } = await newMember(service, 'host');
    const unused = await signInElsewhere(email);
    service.pass(7 * HOUR_MS);
    expect(await isActive(browser)).toBe(true);
    service.pass(7 * HOUR_MS);
    expect(await isActive(unused)).toBe(false);
    const session = await browser.send('GET', '/session');
    const { expires } = await expectJson<{ expires: number }>(session, 200);
    expect(expires).toBe(service.clock.nowMs() + 12 * HOUR_MS);
    service.pass(12 * HOUR_MS);
    expect(await isActive(browser)).toBe(false);
  });

  test('[U-5] a session ends after 30 days of any use', async () => {
    const { browser } = await newMember(service, 'host');
    for (let hours = 11; hours < 30 * 24; hours += 11) {
      service.pass(11 * HOUR_MS);
      expect(await isActive(browser)).toBe(true);
    }
    service.pass(11 * HOUR_MS);
    expect(await isActive(browser)).toBe(false);
  });

  test('[U-5] a member has at most 20 sessions; the least recently used one ends', async () => {
    const { email, browser: first } = await newMember(service, 'host');
    service.pass(6 * 60_000);
    const second = await signInElsewhere(email);
    for (let n = 2; n < 20; n++) {
      service.pass(1_000);
      await signInElsewhere(email);
    }
    // The first session was used after the second started.
    expect(await isActive(first)).toBe(true);
    await signInElsewhere(email);
    expect([await isActive(first), await isActive(second)]).toEqual([true, false]);
  }, 60_000);

  test('[U-5] a session is removed from the database after its end', async () => {
    const { browser } = await newMember(service, 'host');
    const { hash } = (await service.store.findSession({ hash: hashIn(browser) })) ?? {};
    expect(hash).toBe(hashIn(browser));
    service.pass(12 * HOUR_MS);
    await service.store.deleteExpiredSessionsAndLinks({ nowMs: service.clock.nowMs() });
    expect(await service.store.findSession({ hash: hashIn(browser) })).toBeNull();
  });

  test.each<[Record<string, string>, number]>([
    [{}, 200],
    [{ 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'empty' }, 200],
    [{ Referer: `${service.url}/watch/x` }, 401],
    [{ 'Sec-Fetch-Dest': 'image' }, 401],
    [{ 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Dest': 'empty' }, 401],
  ])('[U-7] a read by cookie with %j gets %d', async (headers, status) => {
    const { browser } = await newMember(service, 'host');
    const all = { Cookie: browser.cookie ?? '', ...headers };
    const response = await fetch(`${service.url}/studio/v1/streams`, { headers: all });
    expect(response.status).toBe(status);
  });

  test('[U-6] [U-8] a session ends at once on sign-out, which removes the cookie', async () => {
    const { browser, email } = await newMember(service, 'host');
    const other = await signInElsewhere(email);
    expect(await isActive(browser)).toBe(true);
    const { cookie } = browser;
    const response = await browser.send('DELETE', '/session');
    const taken = response.headers.get('set-cookie');
    await expectNoContent(response);
    expect(taken).toStartWith('fourbeat=; ');
    expect(taken).toContain('Max-Age=0');
    browser.cookie = cookie;
    expect([await isActive(browser), await isActive(other)]).toEqual([false, true]);
  });

  test('[U-6] [U-8] all sessions of a member end on sign-out everywhere', async () => {
    const { browser, email } = await newMember(service, 'host');
    const otherMember = await newMember(service, 'host');
    const others = [await signInElsewhere(email), await signInElsewhere(email)];
    for (const other of others) expect(await isActive(other)).toBe(true);
    const { cookie } = browser;
    await expectNoContent(await browser.send('DELETE', '/sessions'));
    browser.cookie = cookie;
    for (const ended of [browser, ...others]) expect(await isActive(ended)).toBe(false);
    expect(await isActive(otherMember.browser)).toBe(true);
  });
});

describe('a write by cookie', () => {
  const FORGED: [string, (own: UserAgent, other: UserAgent) => Record<string, string>][] = [
    ['without the token', () => ({ 'X-CSRF-Token': '' })],
    ['with a wrong token', () => ({ 'X-CSRF-Token': 'a'.repeat(43) })],
    ['with a token that is no ASCII', () => ({ 'X-CSRF-Token': 'é'.repeat(43) })],
    ['with the token of another session', (_, other) => ({ 'X-CSRF-Token': other.csrf ?? '' })],
    ['from another origin', () => ({ Origin: 'https://evil.example' })],
    ['from a page without an origin', () => ({ Origin: 'null' })],
    ['from another port of this host', () => ({ Origin: 'http://127.0.0.1:1' })],
    ['from another site, as the browser says', () => ({ 'Sec-Fetch-Site': 'cross-site' })],
    ['from a neighbour, as the browser says', () => ({ 'Sec-Fetch-Site': 'same-site' })],
  ];

  test.each(FORGED)('[U-7] a cookie write %s gets 401 without effect', async (_, headersOf) => {
    const { browser, email } = await newMember(service, 'owner');
    const headers = headersOf(browser, await signInElsewhere(email));
    const title = randomUUID();
    for (const [method, path, body] of [
      ['POST', '/streams', { title }],
      ['PATCH', '/session/member', { name: title }],
      ['DELETE', '/session', undefined],
      ['DELETE', '/sessions', undefined],
    ] as const) {
      await expectUnauthorized(await browser.send(method, path, body, headers), 'Token');
    }
    const session = await browser.send('GET', '/session');
    const { member } = await expectJson<{ member: { name: string } }>(session, 200);
    expect(member.name).toBe('A owner');
    expect(await (await service.studio('GET', '/streams')).text()).not.toContain(title);
  });

  test('[U-7] a write by cookie without the JSON content type gets 415', async () => {
    const { browser } = await newMember(service, 'owner');
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const headers = { 'Content-Type': type };
      const response = await browser.send('POST', '/streams', { title: 'By a form' }, headers);
      expect(response.status).toBe(415);
    }
  });

  test('[U-7] a write by cookie from the page of this service is accepted', async () => {
    const { browser } = await newMember(service, 'owner');
    const headers = { Origin: service.url, 'Sec-Fetch-Site': 'same-origin' };
    const response = await browser.send('POST', '/streams', { title: 'By the page' }, headers);
    expect(response.status).toBe(201);
  });

  test('[U-7] a page of another origin cannot sign in or use a link', async () => {
    const { email } = await newMember(service, 'owner');
    const password = PASSWORD;
    for (const [path, body] of [
      ['/session', { email, password }],
      ['/invitations/look', { token: 'x' }],
      ['/invitations/accept', { token: 'x', password }],
      ['/setup/look', { token: 'x' }],
      ['/setup', { token: 'x', name: 'Ada', email, password }],
    ] as const) {
      const headers = { Origin: 'https://evil.example' };
      const response = await new UserAgent(service.url).send('POST', path, body, headers);
      const { detail } = await expectUnauthorized(response, 'Token');
      expect([path, detail]).toEqual([path, expect.stringContaining('another origin')]);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test('[U-7] [G-25] a preflight allows no write by cookie from another origin', async () => {
    const preflight = await fetch(`${service.url}/studio/v1/streams`, { method: 'OPTIONS' });
    expect(preflight.headers.has('access-control-allow-credentials')).toBe(false);
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase();
    expect(allowed).not.toContain('csrf');
  });
});

describe('members who edit their profile', () => {
  test('[U-18] [U-8] a member changes the name at once', async () => {
    const { browser, uuid, email } = await newMember(service, 'moderator');
    await browser.send('GET', '/session');
    const changed = await browser.send('PATCH', '/session/member', { name: 'Grace' });
    const member = await expectJson<object>(changed, 200);
    expect(member).toEqual({
      ...{ uuid, email, name: 'Grace', role: 'moderator' },
      created: service.clock.nowMs(),
    });
    const session = await expectJson<object>(await browser.send('GET', '/session'), 200);
    expect(session).toMatchObject({ member: { name: 'Grace' } });
  });

  test('[U-18] a member changes the password with the current one, which ends all other sessions', async () => {
    const { browser, email } = await newMember(service, 'host');
    const other = await signInElsewhere(email);
    const password = 'quite another one';
    const path = '/session/member';
    const wrong = { password, currentPassword: 'not the password' };
    for (const body of [wrong, { password }, {}, { currentPassword: PASSWORD }]) {
      expect((await browser.send('PATCH', path, body)).status).toBe(400);
    }
    expect(await isActive(other)).toBe(true);
    const right = { password, currentPassword: PASSWORD };
    await expectJson(await browser.send('PATCH', path, right), 200);
    expect([await isActive(browser), await isActive(other)]).toEqual([true, false]);
    await expectRejectedSignIn(email, PASSWORD);
    await signInElsewhere(email, password);
  });

  test.each(['short pwd', 'x'.repeat(201), ' '.repeat(12), 'ten chars\u0007!'])(
    '[U-11] %j gets 400 as a password',
    async (password) => {
      const { browser } = await newMember(service, 'host');
      const body = { password, currentPassword: PASSWORD };
      const response = await browser.send('PATCH', '/session/member', body);
      expect((await expectJson<ProblemBody>(response, 400)).detail).toContain('password');
    },
  );

  test.each(['ten chars!', 'ü'.repeat(200), '🐎'.repeat(200), '  spaces count  '])(
    '[U-11] %j is accepted as a password',
    async (password) => {
      const { browser, email } = await newMember(service, 'host');
      const body = { password, currentPassword: PASSWORD };
      await expectJson(await browser.send('PATCH', '/session/member', body), 200);
      await signInElsewhere(email, password);
      await expectRejectedSignIn(email, `x${password.slice(2)}`);
    },
  );
});

function hashIn({ cookie }: UserAgent): string {
  const secret = cookie?.split('=')[1] ?? '';
  return new Bun.CryptoHasher('sha256').update(secret).digest('hex');
}
