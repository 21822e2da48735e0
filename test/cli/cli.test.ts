import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import {
  createAccount,
  createStream,
  currentInterval,
  expectFailure,
  parseOutput,
  requestProfile,
  until,
  viewerToken,
} from '../support/harness/command-line.ts';
import { expectJson } from '../support/harness/harness.ts';
import {
  fourbeat,
  killServers,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from '../support/harness/program.ts';
import { queuedMsOf } from '../support/kill/killable-server.ts';

// Each command once, and the starts and ends of a server. `cli.full.test.ts` has unusual ones.

const folder = temporaryFolder();
const data = folder.path('shared');
let server: ServerProcess;
let account: { uuid: string; token: string };

beforeAll(async () => {
  server = await serveProcess(['--data', data, '--log-level', 'debug']);
  account = await createAccount(data, 'ann@example.org');
});

afterAll(async () => {
  await killServers();
  folder.remove();
});

describe('accounts', () => {
  test('[O-3] account create prints one JSON object, and its token works immediately', async () => {
    const made = parseOutput<Record<string, string>>(
      await fourbeat([
        ...['account', 'create', '--email', 'eve@example.org'],
        ...['--name', 'Eve', '--data', data],
      ]),
      data,
    );
    expect(Object.keys(made)).toEqual(['uuid', 'email', 'name', 'token']);
    expect(made).toMatchObject({ email: 'eve@example.org', name: 'Eve' });
    expect(made.token).toMatch(/^fb_[0-9A-Za-z]{40}$/);
    const user = await expectJson(await requestProfile(server.url, made.token ?? ''), 200);
    expect(user).toMatchObject({ uuid: made.uuid, email: 'eve@example.org', name: 'Eve' });
  });

  test('[O-3] [O-20] account create creates a directory that serve can use later', async () => {
    const fresh = folder.path('fresh');
    const { token } = await createAccount(fresh, 'ann@example.org');
    expect(statSync(fresh).mode & 0o777).toBe(0o700);
    const later = await serveProcess(['--data', fresh]);
    expect((await requestProfile(later.url, token)).status).toBe(200);
    later.signal('SIGTERM');
    expect(await later.exited).toBe(0);
  });

  test('[A-9] account create rejects an email that has an account, with one line', async () => {
    const again = await fourbeat([
      ...['account', 'create', '--email', 'ann@example.org'],
      ...['--name', 'Another', '--data', data],
    ]);
    expect(expectFailure(again)).toContain('ann@example.org');
  });

  test('[A-9] account create stores an email in lower case, and commands find it in any case', async () => {
    const args = (email: string) => ['--email', email, '--name', 'Zoe', '--data', data];
    const made = await fourbeat(['account', 'create', ...args('Zoe@Example.org')]);
    expect(parseOutput<{ email: string }>(made, data).email).toBe('zoe@example.org');
    const again = await fourbeat(['account', 'create', ...args('zoe@example.org')]);
    expect(expectFailure(again)).toContain('already exists');
    parseOutput(await fourbeat(['token', 'create', ...args('ZOE@example.org')]), data);
  });
});

describe('tokens', () => {
  const email = ['--email', 'ann@example.org'];

  test('[O-4] [A-7] [A-8] token commands create, list and revoke beside a running server', async () => {
    const made = parseOutput<{ id: string; token: string; lastUsed: null }>(
      await fourbeat(['token', 'create', ...email, '--name', 'for the studio', '--data', data]),
      data,
    );
    expect((await requestProfile(server.url, made.token)).status).toBe(200);

    const listing = await fourbeat(['token', 'list', ...email, '--json', '--data', data]);
    const listed = parseOutput<Record<string, unknown>[]>(listing);
    expect(listed).toHaveLength(2);
    expect(Object.keys(listed[0] ?? {})).toEqual(['id', 'name', 'prefix', 'created', 'lastUsed']);
    expect(listed[0]).toMatchObject({
      id: made.id,
      name: 'for the studio',
      prefix: made.token.slice(0, 8),
    });
    expect(listing.stdout).not.toContain(made.token);

    const revoke = ['token', 'revoke', '--id', made.id, '--data', data];
    parseOutput(await fourbeat(revoke));
    expect((await requestProfile(server.url, made.token)).status).toBe(401);
    expect((await requestProfile(server.url, account.token)).status).toBe(200);
    expect(expectFailure(await fourbeat(revoke))).toContain(made.id);
  });

  test('[O-4] token list prints a table by default', async () => {
    const { status, stdout } = await fourbeat(['token', 'list', ...email, '--data', data]);
    const [head, row] = stdout.split('\n');
    expect(head).toMatch(/^ID +TOKEN +CREATED +LAST USED +NAME$/);
    expect(row).toContain(account.token.slice(0, 8));
    expect(stdout).not.toContain(account.token);
    expect(status).toBe(0);
  });

  test.each([
    ['an unknown account', ['--email', 'nobody@example.org', '--data', data]],
    ['a directory without a database', [...email, '--data', folder.path('nowhere')]],
  ])('[O-4] %s is reported in one line, and nothing is created', async (_, args) => {
    expectFailure(await fourbeat(['token', 'list', ...args]));
    expectFailure(await fourbeat(['token', 'create', ...args, '--name', 'x']));
    expect(readdirSync(folder.path('.'))).not.toContain('nowhere');
  });

  test('a stack trace is shown with --log-level debug', async () => {
    const args = ['token', 'list', '--email', 'nobody@example.org', '--data', data];
    const { stderr } = await fourbeat([...args, '--log-level', 'debug']);
    expect(stderr).toContain('\n    at ');
  });
});

test('[O-5] [T-15] key rotate publishes a new key beside a running server', async () => {
  const keysOf = async () => {
    const response = await fetch(`${server.url}/.well-known/jwks.json`);
    return (await expectJson<{ keys: { kid: string }[] }>(response, 200)).keys;
  };
  const before = await keysOf();
  const rotate = ['key', 'rotate', '--data', data];
  const made = parseOutput<{ kid: string; activeFrom: number }>(await fourbeat(rotate));
  expect(made.activeFrom).toBeGreaterThan(Date.now() + 9 * 60_000);
  await until(async () => (await keysOf()).length > before.length);
  expect((await keysOf()).map(({ kid }) => kid)).toContain(made.kid);
  const again = await fourbeat(rotate);
  expect(JSON.parse(again.stdout)).toEqual(made);
  expect(again.stderr).toMatch(/^fourbeat: [^\n]*waiting[^\n]*\n$/);
});

describe('serve', () => {
  test('[O-6] the version is that of the package', async () => {
    expect(await fourbeat(['--version'])).toEqual({
      status: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    });
  });

  test('[O-8] an invalid variable ends the start', async () => {
    const ended = await fourbeat(['serve'], { FOURBEAT_PORT: 'many' });
    expect(expectFailure(ended, 2)).toContain('FOURBEAT_PORT');
  });

  test('[O-9] [O-10] a server that listens is healthy and ready', async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const other = await fetch(`${server.url}/readyz`, { method: 'POST' });
    expect(other.status).toBe(405);
    expect(other.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('[O-12] metrics count the requests and show the current state', async () => {
    const streamId = await createStream(server.url, account.token);
    const bearer = { Authorization: `Bearer ${await viewerToken(server.url, streamId)}` };
    const path = `${server.url}/api/v1/view-counts/${streamId}`;
    expect((await fetch(path, { method: 'POST', headers: bearer })).status).toBe(204);
    const response = await fetch(`${server.url}/metrics`);
    expect(response.headers.get('content-type')).toStartWith('text/plain');
    const page = await response.text();
    expect(page).toMatch(
      /^fourbeat_requests_total\{method="POST",path="\/api\/v1\/view-counts\/\{\w+\}",status="204"\} 1$/m,
    );
    expect(page).toMatch(/^fourbeat_request_duration_seconds_count\{.*view-counts.*\} 1$/m);
    expect(page).toMatch(/^fourbeat_viewers 1$/m);
    expect(page).toMatch(/^fourbeat_active_streams 1$/m);
    expect(page).not.toContain(streamId);
    expect(page).toMatch(/^fourbeat_seal_latency_seconds_count [1-9]/m);
    const watermark = Number(/^fourbeat_watermark (\d+)$/m.exec(page)?.[1]);
    expect(watermark).toBeGreaterThan((await currentInterval(server.url)) - 20);
  });

  test('[O-13] [O-14] the log has one JSON object per line, without secrets', async () => {
    const streamId = await createStream(server.url, account.token);
    const token = await viewerToken(server.url, streamId, 'hush-identifier');
    const { sub } = JSON.parse(atob(token.split('.')[1] ?? ''));
    const chat = (text: string) =>
      fetch(`${server.url}/api/v1/events-streams/${streamId}/chats`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ kind: 'message', text, name: 'hush-name' }),
      });
    expect((await chat('hush-text')).status).toBe(204);
    expect((await chat('hush-text\u0000')).status).toBe(400);
    expect((await requestProfile(server.url, 'fb_hush')).status).toBe(401);
    const forged = { headers: { Authorization: `Bearer ${token}x` } };
    expect((await fetch(`${server.url}/api/v1/view-counts/${streamId}`, forged)).status).toBe(401);
    await until(async () => server.log().includes('request rejected'));
    const lines = server.log().trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
    for (const secret of ['hush', token, account.token, sub]) {
      expect(server.log()).not.toContain(secret);
    }
  });

  test('[R-5] a second serve on a directory ends with one line and changes nothing', async () => {
    const pidFile = readFileSync(join(data, 'server.pid'), 'utf8');
    const names = readdirSync(data).sort();
    const line = expectFailure(await fourbeat(['serve', '--port', '0', '--data', data]));
    expect(line).toContain(data);
    expect(line).toContain(pidFile.trim());
    expect(readFileSync(join(data, 'server.pid'), 'utf8')).toBe(pidFile);
    expect(readdirSync(data).sort()).toEqual(names);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  test('[R-7] a database newer than the program ends the start with one line', async () => {
    const newer = folder.path('newer');
    await createAccount(newer, 'ann@example.org');
    const database = new Database(join(newer, 'record.sqlite'));
    database.run("insert into migrations values (9999, 'from the future', 0)");
    database.close();
    expect(expectFailure(await fourbeat(['serve', '--port', '0', '--data', newer]))).toContain(
      '9999',
    );
    expect(expectFailure(await fourbeat(['key', 'rotate', '--data', newer]))).toContain('9999');
  });
});

describe('the end of a server', () => {
  test('[O-10] [O-11] SIGTERM makes the server not ready, answers long polls, ends event streams and exits with 0', async () => {
    const directory = folder.path('drained');
    const started = await serveProcess(['--data', directory]);
    const { token } = await createAccount(directory, 'ann@example.org');
    const streamId = await createStream(started.url, token);
    const bearer = { Authorization: `Bearer ${await viewerToken(started.url, streamId)}` };
    const interval = await currentInterval(started.url);
    const feed = (ahead: number, accept = 'application/json') =>
      fetch(`${started.url}/api/v1/events-streams/${streamId}?interval=${interval + ahead}`, {
        headers: { ...bearer, Accept: accept },
      });
    const events = await feed(0, 'text/event-stream');
    const poll = feed(4);
    await until(async () => {
      const page = await (await fetch(`${started.url}/metrics`)).text();
      return /^fourbeat_long_polls 1$/m.test(page);
    });
    started.signal('SIGTERM');
    let isAnswered = false;
    void poll.then(() => {
      isAnswered = true;
    });
    await until(async () => (await fetch(`${started.url}/readyz`)).status === 503);
    expect(isAnswered).toBe(false);
    expect((await expectJson<{ interval: number }>(await poll, 200)).interval).toBe(interval + 4);
    await events.text();
    expect(await started.exited).toBe(0);
    expect(JSON.parse(started.log().trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      msg: 'stopped',
    });

    const again = await serveProcess(['--data', directory]);
    expect((await fetch(`${again.url}/api/v1/streams/${streamId}/`)).status).toBe(200);
    again.signal('SIGINT');
    expect(await again.exited).toBe(0);
  });

  test('[O-11] [C-11] [F-14] events that were accepted just before the end are in the feed', async () => {
    const directory = folder.path('last-words');
    const started = await serveProcess(['--data', directory]);
    const { token } = await createAccount(directory, 'ann@example.org');
    const streamId = await createStream(started.url, token);
    const viewer = `Bearer ${await viewerToken(started.url, streamId)}`;
    const post = async (path: string, authorization: string, body: object) => {
      const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(started.url + path, init)).status;
    };
    const chats = `/api/v1/events-streams/${streamId}/chats`;
    const event = { type: 'curtain', data: null };
    expect(await post(`/studio/v1/streams/${streamId}/events`, `Token ${token}`, event)).toBe(201);
    expect(await post(chats, viewer, { kind: 'message', text: 'last words' })).toBe(204);
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
    const database = new Database(join(directory, 'record.sqlite'), { readonly: true });
    const rows = database.query<{ body: string }, []>('select body from sealed_intervals').all();
    database.close();
    const feed = rows.map(({ body }) => body).join();
    expect(feed).toContain('last words');
    expect(feed).toContain('"curtain"');
  });

  test('[O-11] a second signal ends the server immediately with status 1', async () => {
    const directory = folder.path('twice');
    const started = await serveProcess(['--data', directory]);
    const { token } = await createAccount(directory, 'ann@example.org');
    const streamId = await createStream(started.url, token);
    const bearer = { Authorization: `Bearer ${await viewerToken(started.url, streamId)}` };
    const interval = (await currentInterval(started.url)) + 4;
    const path = `/api/v1/events-streams/${streamId}?interval=${interval}`;
    const poll = fetch(started.url + path, { headers: bearer }).catch(() => 'cut');
    await until(async () => {
      const page = await (await fetch(`${started.url}/metrics`)).text();
      return /^fourbeat_long_polls 1$/m.test(page);
    });
    started.signal('SIGTERM');
    await until(async () => started.log().includes('"stopping"'));
    started.signal('SIGTERM');
    expect(await started.exited).toBe(1);
    expect(await poll).toBe('cut');
  });

  test('[O-11] under nohup a server outlives SIGHUP and drains on SIGTERM', async () => {
    const args = ['--data', folder.path('nohup')];
    const started = await serveProcess(args, {}, null, ['nohup']);
    started.signal('SIGHUP');
    const ended = await Promise.race([started.exited.then(() => true), Bun.sleep(500)]);
    expect(ended).toBeUndefined();
    expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
  });

  test('[R-6] [R-17] after kill -9 the next start needs no repair and is ready in 2 s', async () => {
    const directory = folder.path('killed');
    const { token } = await createAccount(directory, 'ann@example.org');
    const killed = await serveProcess(['--data', directory]);
    const streamId = await createStream(killed.url, token);
    killed.signal('SIGKILL');
    await killed.exited;
    const again = await serveProcess(['--data', directory]);
    expect((await fetch(`${again.url}/readyz`)).status).toBe(200);
    // Excludes the time in which other processes had its core, as in test/kill/kill.test.ts.
    expect(again.startMs - queuedMsOf(again.pid)).toBeLessThan(2_000);
    expect((await fetch(`${again.url}/api/v1/streams/${streamId}/`)).status).toBe(200);
    again.signal('SIGTERM');
    expect(await again.exited).toBe(0);
  });
});
