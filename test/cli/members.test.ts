import { afterAll, expect, test } from 'bun:test';
import { until } from '../support/harness/command-line.ts';
import { expectJson } from '../support/harness/harness.ts';
import {
  fourbeat,
  killServers,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from '../support/harness/program.ts';
import { PASSWORD, tokenOf, UserAgent } from '../support/studio/user-agent.ts';

const folder = temporaryFolder();
afterAll(async () => {
  await killServers();
  folder.remove();
});

const linkIn = (output: string) => /https?:\S+#setup=[\w-]{43}\b/.exec(output)?.[0] ?? null;

async function stop(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM');
  expect(await server.exited).toBe(0);
}

interface PrintedLink {
  readonly link: string;
  readonly kind: string;
  readonly account: { readonly uuid: string; readonly name: string };
}

async function memberLink(email: string, args: string[]): Promise<PrintedLink> {
  const ended = await fourbeat(['member', 'link', '--email', email, ...args]);
  expect([ended.status, ended.stdout.trimEnd().includes('\n')]).toEqual([0, false]);
  return JSON.parse(ended.stdout);
}

test.concurrent('[U-12] [U-13] [O-14] serve prints a link to create the first owner until one exists', async () => {
  const data = ['--data', folder.path('new'), '--log-level', 'debug'];
  const first = await serveProcess(data);
  const unused = linkIn(first.startupOutput);
  expect(unused).toStartWith(`${first.url}/studio/#setup=`);
  await stop(first);

  const second = await serveProcess([...data, '--public-url', 'https://live.example.org']);
  const link = linkIn(second.startupOutput);
  expect(link).toStartWith('https://live.example.org/studio/#setup=');
  const browser = new UserAgent(second.url);
  const email = 'ada@example.org';
  const token = tokenOf(link ?? '');
  const { csrf } = await browser.startSession('/setup', {
    token,
    name: 'Ada',
    email,
    password: PASSWORD,
  });
  const wrong = { email, password: 'hush, not the password' };
  expect((await new UserAgent(second.url).send('POST', '/session', wrong)).status).toBe(401);
  const invitation = await browser.send('POST', '/invitations', {
    ...{ email: 'bob@example.org', role: 'host' },
  });
  const created = await expectJson<{ link: string }>(invitation, 201);
  const metrics = await (await fetch(`${second.url}/metrics`)).text();
  await stop(second);

  const secrets = [
    token,
    tokenOf(unused ?? ''),
    tokenOf(created.link),
    PASSWORD,
    wrong.password,
    csrf,
  ];
  const cookie = browser.cookie?.split('=')[1] ?? 'none';
  for (const secret of [...secrets, cookie, 'argon2', email]) {
    for (const text of [first.log(), second.log(), metrics]) expect(text).not.toContain(secret);
  }
  expect(second.log()).toContain('"path":"/studio/v1/setup"');

  const third = await serveProcess(data);
  expect(third.startupOutput).toContain('Fourbeat is listening');
  expect(third.startupOutput).not.toContain('#setup');
  expect((await new UserAgent(third.url).signIn(email)).member.role).toBe('owner');
  await stop(third);
});

test.concurrent('[U-12] a node without the studio prints no link', async () => {
  const server = await serveProcess(['--data', folder.path('feed'), '--roles', 'events,auth']);
  expect(server.startupOutput).not.toContain('#setup');
  await stop(server);
});

test.concurrent('[U-15] member link works beside a running server, for an owner and for a password', async () => {
  const data = ['--data', folder.path('owner')];
  const server = await serveProcess(data);
  const email = 'ann@example.org';
  const made = await fourbeat(['account', 'create', '--email', email, '--name', 'Ann', ...data]);
  const account: { uuid: string } = JSON.parse(made.stdout);

  const first = await memberLink(email, [...data, '--public-url', 'https://live.example.org/']);
  expect(first).toMatchObject({ email, kind: 'invitation', expires: expect.any(Number) });
  expect(first.link).toStartWith('https://live.example.org/studio/#invitation=');
  const browser = new UserAgent(server.url);
  const session = await browser.startSession('/invitations/accept', {
    ...{ token: tokenOf(first.link ?? ''), name: 'Ann', password: PASSWORD },
  });
  expect(session).toMatchObject({ member: { role: 'owner' }, account: { uuid: account.uuid } });
  expect(first.account).toEqual({ uuid: account.uuid, name: 'Ann' });

  const second = await memberLink(email, [...data, '--port', '80']);
  expect(second.link).toStartWith('http://localhost:80/studio/#password=');
  const password = 'remembered this time';
  await new UserAgent(server.url).startSession('/invitations/accept', {
    ...{ token: tokenOf(second.link ?? ''), password },
  });
  await new UserAgent(server.url).signIn(email, password);
  expect((await browser.send('GET', '/session')).status).toBe(401);
  await stop(server);
});

test('[U-15] member link has the address of the running service, and the default port without one', async () => {
  const data = ['--data', folder.path('address')];
  const server = await serveProcess(data);
  const email = 'eve@example.org';
  await fourbeat(['account', 'create', '--email', email, '--name', 'Eve', ...data]);
  expect((await memberLink(email, data)).link).toStartWith(`${server.url}/studio/#`);
  await stop(server);
  expect((await memberLink(email, data)).link).toStartWith('http://localhost:4250/studio/#');

  const publicServer = await serveProcess([...data, '--public-url', 'https://live.example.org']);
  expect((await memberLink(email, data)).link).toStartWith('https://live.example.org/studio/#');
  await stop(publicServer);
});

test('[U-15] [U-22] the operator takes back an email with which another account created a member', async () => {
  const data = ['--data', folder.path('taken')];
  const server = await serveProcess(data);
  const createAccount = async (email: string, name: string) => {
    const ended = await fourbeat(['account', 'create', '--email', email, '--name', name, ...data]);
    return JSON.parse(ended.stdout) as { uuid: string; token: string };
  };
  const hostile = await createAccount('mallory@example.org', 'Mallory');
  const email = 'ann@corp.example';
  const browser = new UserAgent(server.url);
  const { link } = await memberLink(email, [...data, '--account', 'mallory@example.org']);
  await browser.startSession('/invitations/accept', {
    ...{ token: tokenOf(link), name: 'Ann', password: PASSWORD },
  });
  const corp = await createAccount(email, 'Corp');

  const refused = await fourbeat(['member', 'link', '--email', email, ...data]);
  expect([refused.status, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/^fourbeat: [^\n]+\n$/);
  expect(refused.stderr).toContain(`"Mallory" (${hostile.uuid}), not of "Corp" (${corp.uuid})`);
  const remove = ['member', 'remove', '--email', email, ...data];
  const last = await fourbeat(remove);
  expect([last.status, last.stdout]).toEqual([1, '']);
  expect(last.stderr).toContain('add --last-owner');
  expect((await browser.send('GET', '/session')).status).toBe(200);

  const removed = await fourbeat([...remove, '--last-owner']);
  expect(JSON.parse(removed.stdout)).toMatchObject({
    ...{ email, account: { uuid: hostile.uuid, name: 'Mallory' }, removed: true },
  });
  await until(async () => (await browser.send('GET', '/session')).status === 401);
  expect(await memberLink(email, data)).toMatchObject({
    ...{ kind: 'invitation', account: { uuid: corp.uuid, name: 'Corp' } },
  });
  const again = await fourbeat(remove);
  expect([again.status, again.stderr]).toEqual([1, `fourbeat: no member has the email ${email}\n`]);
  await stop(server);
});

test('[U-15] member link prints one line for an unknown email and for a missing database', async () => {
  const data = ['--data', folder.path('owner')];
  for (const [args, reason] of [
    [['--email', 'nobody@example.org', ...data], 'nobody@example.org'],
    [['--email', 'ann@example.org', '--data', folder.path('nowhere')], 'there is no database in'],
  ] as const) {
    const { status, stdout, stderr } = await fourbeat(['member', 'link', ...args]);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^fourbeat: [^\n]+\n$/);
    expect(stderr).toContain(reason);
  }
});
