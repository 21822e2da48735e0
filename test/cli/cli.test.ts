import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { expectJson } from '../support/harness/harness.ts';
import {
  fourbeat,
  killServers,
  type ProgramResult,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from '../support/harness/program.ts';

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

async function createAccount(directory: string, email: string) {
  const ended = await fourbeat([
    ...['account', 'create', '--email', email],
    ...['--name', 'Ann', '--data', directory],
  ]);
  return output<{ uuid: string; token: string }>(ended, directory);
}

/**
 * Parses the JSON object that a command printed.
 * @param location the data directory that it reports on standard error; null: nothing
 */
function output<T>({ status, stdout, stderr }: ProgramResult, location: string | null = null): T {
  const expectedError = location === null ? '' : `fourbeat: saved in the database in ${location}\n`;
  expect([status, stderr]).toEqual([0, expectedError]);
  expect(stdout.trimEnd()).not.toContain('\n');
  return JSON.parse(stdout);
}

/** Expects that a command failed with one line and without a stack trace. @returns the line */
function failure({ status, stdout, stderr }: ProgramResult, expected = 1): string {
  expect(stderr.trimEnd()).toMatch(/^fourbeat: [^\n]+$/);
  expect([status, stdout]).toEqual([expected, '']);
  return stderr;
}

const authorized = (token: string) => ({ headers: { Authorization: `Token ${token}` } });
const profile = (url: string, token: string) => fetch(`${url}/api/v1/users/me`, authorized(token));

async function createStream(url: string, token: string): Promise<string> {
  const response = await fetch(`${url}/studio/v1/streams`, {
    method: 'POST',
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'A show' }),
  });
  return (await expectJson<{ id: string }>(response, 201)).id;
}

async function viewerToken(url: string, streamId: string, identifier = 'bob'): Promise<string> {
  const response = await fetch(`${url}/api/v1/token`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ stream_id: streamId, unique_user_identifier: identifier }),
  });
  return (await expectJson<{ token: string }>(response, 200)).token;
}

async function currentInterval(url: string): Promise<number> {
  return (await expectJson<{ interval: number }>(await fetch(`${url}/api/v1/time`), 200)).interval;
}

/** Repeats a request until its response is the expected one; the timeout of the test bounds it. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(20);
}

describe('accounts', () => {
  test('[O-3] account create prints one JSON object, and its token works immediately', async () => {
    const made = output<Record<string, string>>(
      await fourbeat([
        ...['account', 'create', '--email', 'eve@example.org'],
        ...['--name', 'Eve', '--data', data],
      ]),
      data,
    );
    expect(Object.keys(made)).toEqual(['uuid', 'email', 'name', 'token']);
    expect(made).toMatchObject({ email: 'eve@example.org', name: 'Eve' });
    expect(made.token).toMatch(/^fb_[0-9A-Za-z]{40}$/);
    const user = await expectJson(await profile(server.url, made.token ?? ''), 200);
    expect(user).toMatchObject({ uuid: made.uuid, email: 'eve@example.org', name: 'Eve' });
  });

  test('[O-3] [O-20] account create creates a directory that serve can use later', async () => {
    const fresh = folder.path('fresh');
    const { token } = await createAccount(fresh, 'ann@example.org');
    expect(statSync(fresh).mode & 0o777).toBe(0o700);
    const later = await serveProcess(['--data', fresh]);
    expect((await profile(later.url, token)).status).toBe(200);
    later.signal('SIGTERM');
    expect(await later.exited).toBe(0);
  });

  test('[A-9] account create rejects an email that has an account, with one line', async () => {
    const again = await fourbeat([
      ...['account', 'create', '--email', 'ann@example.org'],
      ...['--name', 'Another', '--data', data],
    ]);
    expect(failure(again)).toContain('ann@example.org');
  });

  test('[O-3] concurrent account create commands all succeed', async () => {
    const fresh = folder.path('crowded');
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, n) => createAccount(fresh, `user-${n}@example.org`)),
    );
    expect(new Set(made.map(({ uuid }) => uuid)).size).toBe(6);
  });
});

describe('tokens', () => {
  const email = ['--email', 'ann@example.org'];

  test('[O-4] [A-7] [A-8] token commands create, list and revoke beside a running server', async () => {
    const made = output<{ id: string; token: string; lastUsed: null }>(
      await fourbeat(['token', 'create', ...email, '--name', 'for the studio', '--data', data]),
      data,
    );
    expect((await profile(server.url, made.token)).status).toBe(200);

    const listing = await fourbeat(['token', 'list', ...email, '--json', '--data', data]);
    const listed = output<Record<string, unknown>[]>(listing);
    expect(listed).toHaveLength(2);
    expect(Object.keys(listed[0] ?? {})).toEqual(['id', 'name', 'prefix', 'created', 'lastUsed']);
    expect(listed[0]).toMatchObject({
      id: made.id,
      name: 'for the studio',
      prefix: made.token.slice(0, 8),
    });
    expect(listing.stdout).not.toContain(made.token);

    const revoke = ['token', 'revoke', '--id', made.id, '--data', data];
    output(await fourbeat(revoke));
    expect((await profile(server.url, made.token)).status).toBe(401);
    expect((await profile(server.url, account.token)).status).toBe(200);
    expect(failure(await fourbeat(revoke))).toContain(made.id);
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
    ['an account that is not there', ['--email', 'nobody@example.org', '--data', data]],
    ['a directory without a record', [...email, '--data', folder.path('nowhere')]],
  ])('[O-4] %s is told in one line, and nothing is made', async (_, args) => {
    failure(await fourbeat(['token', 'list', ...args]));
    failure(await fourbeat(['token', 'create', ...args, '--name', 'x']));
    expect(readdirSync(folder.path('.'))).not.toContain('nowhere');
  });

  test('a stack trace is shown with --log-level debug only', async () => {
    const args = ['token', 'list', '--email', 'nobody@example.org', '--data', data];
    const { stderr } = await fourbeat([...args, '--log-level', 'debug']);
    expect(stderr).toContain('\n    at ');
  });
});

// Both wait for seconds, so they run concurrently.
test.concurrent('[L-3] a connection that drips its headers is closed within 15 s', async () => {
  const closed = Promise.withResolvers<void>();
  const startedMs = performance.now();
  const socket = connect(server.port, '127.0.0.1', () => {
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
  });
  const drip = setInterval(() => socket.write('a'), 1_000);
  socket.on('error', () => {}).on('close', closed.resolve);
  await closed.promise;
  clearInterval(drip);
  expect(performance.now() - startedMs).toBeLessThan(15_000);
});

test.concurrent('[O-5] [T-15] key rotate publishes a new key beside a running server', async () => {
  const keysOf = async () => {
    const response = await fetch(`${server.url}/.well-known/jwks.json`);
    return (await expectJson<{ keys: { kid: string }[] }>(response, 200)).keys;
  };
  const before = await keysOf();
  const rotate = ['key', 'rotate', '--data', data];
  const made = output<{ kid: string; activeFrom: number }>(await fourbeat(rotate));
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

  test('[O-7] a variable sets a value, and a flag overrides it', async () => {
    const env = { FOURBEAT_CORS_ORIGIN: 'https://variable.example', FOURBEAT_TRUST_PROXY: '' };
    const originOf = async (args: string[]) => {
      const data = ['--data', folder.path('settings')];
      const started = await serveProcess([...data, ...args], env);
      const { headers } = await fetch(`${started.url}/healthz`);
      started.signal('SIGTERM');
      expect(await started.exited).toBe(0);
      return headers.get('access-control-allow-origin');
    };
    expect(await originOf([])).toBe('https://variable.example');
    expect(await originOf(['--cors-origin', 'https://flag.example'])).toBe('https://flag.example');
  });

  test('[O-7] serve logs a warning about an unknown variable', async () => {
    const started = await serveProcess(['--data', folder.path('unknown')], { FOURBEAT_PROT: '1' });
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
    const [first] = started.log().split('\n');
    expect(JSON.parse(first ?? '')).toMatchObject({ level: 'warn', variable: 'FOURBEAT_PROT' });
  });

  test('[O-8] an invalid variable ends the start', async () => {
    const ended = await fourbeat(['serve'], { FOURBEAT_PORT: 'many' });
    expect(failure(ended, 2)).toContain('FOURBEAT_PORT');
  });

  test('[O-2] routes of roles that do not run here are 404, and the others are served', async () => {
    const started = await serveProcess(['--data', folder.path('roles'), '--roles', 'auth,events']);
    const statusOf = async (path: string) => (await fetch(started.url + path)).status;
    expect(await statusOf('/api/v1/users/me')).toBe(404);
    expect(await statusOf('/api/v1/streams/')).toBe(404);
    expect(await statusOf('/studio/v1/streams')).toBe(404);
    expect(await statusOf('/.well-known/jwks.json')).toBe(200);
    expect(await statusOf('/api/v1/time')).toBe(200);
    expect(await statusOf('/healthz')).toBe(200);
    expect(await statusOf('/openapi.json')).toBe(200);
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
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
    expect((await profile(server.url, 'fb_hush')).status).toBe(401);
    const forged = { headers: { Authorization: `Bearer ${token}x` } };
    expect((await fetch(`${server.url}/api/v1/view-counts/${streamId}`, forged)).status).toBe(401);
    await until(async () => server.log().includes('request rejected'));
    const lines = server.log().trimEnd().split('\n');
    for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
    for (const secret of ['hush', token, account.token, sub]) {
      expect(server.log()).not.toContain(secret);
    }
  });

  test('[O-20] only their owner can access the database files, in any directory', async () => {
    const open = folder.path('open');
    mkdirSync(open, { mode: 0o755 });
    await createAccount(open, 'ann@example.org');
    const started = await serveProcess(['--data', open]);
    for (const name of readdirSync(open)) {
      expect([name, statSync(join(open, name)).mode & 0o077]).toEqual([name, 0]);
    }
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
  });

  test('[R-5] a second serve on a directory ends with one line and changes nothing', async () => {
    const held = readFileSync(join(data, 'server.pid'), 'utf8');
    const names = readdirSync(data).sort();
    const line = failure(await fourbeat(['serve', '--port', '0', '--data', data]));
    expect(line).toContain(data);
    expect(line).toContain(held.trim());
    expect(readFileSync(join(data, 'server.pid'), 'utf8')).toBe(held);
    expect(readdirSync(data).sort()).toEqual(names);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  test('[R-7] a database newer than the program ends the start with one line', async () => {
    const newer = folder.path('newer');
    await createAccount(newer, 'ann@example.org');
    const record = new Database(join(newer, 'record.sqlite'));
    record.run("insert into migrations values (9999, 'from the future', 0)");
    record.close();
    expect(failure(await fourbeat(['serve', '--port', '0', '--data', newer]))).toContain('9999');
    expect(failure(await fourbeat(['key', 'rotate', '--data', newer]))).toContain('9999');
  });

  test('a port in use and an unusable directory end the start with one line', async () => {
    const port = String(server.port);
    const busy = ['--port', port, '--host', '127.0.0.1', '--data', folder.path('busy')];
    expect(failure(await fourbeat(['serve', ...busy]))).toContain(`port ${port} is in use`);
    const file = folder.path('file');
    writeFileSync(file, '');
    for (const directory of [file, join(file, 'below')]) {
      const line = failure(await fourbeat(['serve', '--port', '0', '--data', directory]));
      expect(line).toContain(`--data ${directory} cannot be written`);
    }
  });

  test('an invalid host and a damaged database end the start with one line', async () => {
    const host = ['--host', 'nosuch.invalid', '--data', folder.path('no-host')];
    expect(failure(await fourbeat(['serve', '--port', '0', ...host]))).toContain(
      '--host nosuch.invalid',
    );
    const damaged = folder.path('damaged');
    mkdirSync(damaged);
    writeFileSync(join(damaged, 'record.sqlite'), 'no record'.repeat(1_000));
    expect(failure(await fourbeat(['serve', '--port', '0', '--data', damaged]))).toContain(
      `the database in ${damaged} (--data) cannot be opened`,
    );
  });

  test('--host * listens on every address, and the printed line has a URL to open', async () => {
    const started = await serveProcess(['--data', folder.path('every'), '--host', '*']);
    expect(started.url).toBe(`http://localhost:${started.port}`);
    expect((await fetch(`http://127.0.0.1:${started.port}/readyz`)).status).toBe(200);
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
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
    const held = feed(4);
    await until(async () => {
      const page = await (await fetch(`${started.url}/metrics`)).text();
      return /^fourbeat_long_polls 1$/m.test(page);
    });
    started.signal('SIGTERM');
    let answered = false;
    void held.then(() => {
      answered = true;
    });
    await until(async () => (await fetch(`${started.url}/readyz`)).status === 503);
    expect(answered).toBe(false);
    expect((await expectJson<{ interval: number }>(await held, 200)).interval).toBe(interval + 4);
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

  test('[O-11] [F-25] event streams that reconnect immediately do not delay the end', async () => {
    const directory = folder.path('resumed');
    const started = await serveProcess(['--data', directory]);
    const { token } = await createAccount(directory, 'ann@example.org');
    const streamId = await createStream(started.url, token);
    const bearer = { Authorization: `Bearer ${await viewerToken(started.url, streamId)}` };
    const interval = await currentInterval(started.url);
    const feed = (ahead: number, accept: string) =>
      fetch(`${started.url}/api/v1/events-streams/${streamId}?interval=${interval + ahead}`, {
        headers: { ...bearer, Accept: accept },
      });
    const held = feed(4, 'application/json');
    const statuses = new Set<number>();
    const resume = async () => {
      for (;;) {
        const response = await feed(0, 'text/event-stream');
        statuses.add(response.status);
        await response.text();
      }
    };
    const readers = Array.from({ length: 5 }, () => resume().catch(() => 'gone'));
    await until(async () => statuses.has(200));
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
    expect((await held).status).toBe(200);
    await Promise.all(readers);
    expect(statuses).toEqual(new Set([200, 503]));
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
    const record = new Database(join(directory, 'record.sqlite'), { readonly: true });
    const rows = record.query<{ body: string }, []>('select body from sealed_intervals').all();
    record.close();
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
    const held = fetch(started.url + path, { headers: bearer }).catch(() => 'cut');
    await until(async () => {
      const page = await (await fetch(`${started.url}/metrics`)).text();
      return /^fourbeat_long_polls 1$/m.test(page);
    });
    started.signal('SIGTERM');
    await until(async () => started.log().includes('"stopping"'));
    started.signal('SIGTERM');
    expect(await started.exited).toBe(1);
    expect(await held).toBe('cut');
  });

  test('[O-11] [O-13] a log that is not read blocks neither the service nor its end', async () => {
    const pipe = folder.path('log');
    expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0);
    const unread = openSync(pipe, 'r+');
    const data = ['--data', folder.path('unread'), '--log-level', 'debug'];
    const started = await serveProcess(data, {}, unread);
    // Each is logged in about 200 bytes, and a pipe holds 64 KB.
    for (let asked = 0; asked < 1_000; asked++) {
      expect((await fetch(`${started.url}/api/v1/users/me`)).status).toBeOneOf([401, 429]);
    }
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
    closeSync(unread);
  });

  test('[O-11] [O-13] a log on a full disk blocks neither the service nor its end', async () => {
    const full = openSync('/dev/full', 'w');
    const data = ['--data', folder.path('full'), '--log-level', 'debug'];
    const started = await serveProcess(data, {}, full);
    for (let asked = 0; asked < 10; asked++) {
      expect((await fetch(`${started.url}/api/v1/users/me`)).status).toBe(401);
    }
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
    closeSync(full);
  });

  test.each([1, 2])(
    '[O-11] [F-25] a reader of an event stream who takes nothing does not keep it from its end, with %d threads',
    async (workers) => {
      const directory = folder.path(`unread-stream-${workers}`);
      const limits = ['--rate-studio', '1000000/1', '--workers', String(workers)];
      const started = await serveProcess(['--data', directory, ...limits]);
      const { token } = await createAccount(directory, 'ann@example.org');
      const streamId = await createStream(started.url, token);
      const bearer = await viewerToken(started.url, streamId);
      const interval = await currentInterval(started.url);
      const post = {
        method: 'POST',
        headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ type: 'much', data: { text: 'x'.repeat(3_900) } }),
      };
      // More than the buffers of both sides, which are a few MB.
      const url = `${started.url}/studio/v1/streams/${streamId}/events`;
      for (let n = 0; n < 50; n++) {
        const sent = Array.from({ length: 60 }, () => fetch(url, post));
        for (const { status } of await Promise.all(sent)) expect(status).toBe(201);
      }
      const reader = connect(started.port, '127.0.0.1');
      reader.write(
        `GET /api/v1/events-streams/${streamId}?interval=${interval} HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${bearer}\r\n\r\n`,
      );
      await new Promise((resolve) => reader.once('data', resolve));
      reader.pause();
      // Until the buffers are full.
      await Bun.sleep(500);
      const signalMs = performance.now();
      started.signal('SIGTERM');
      expect(await started.exited).toBe(0);
      expect(performance.now() - signalMs).toBeGreaterThan(2_500);
      reader.destroy();
    },
    60_000,
  );

  test('[O-11] an incomplete request does not delay the end', async () => {
    const started = await serveProcess(['--data', folder.path('half')]);
    const socket = connect(started.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
    await new Promise((resolve) => socket.write('GET /api/v1/time HTTP/1.1\r\nHo', resolve));
    expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
    await closed;
  });

  test('[K-6] a start on a database that is ahead of the system clock logs a warning', async () => {
    const directory = folder.path('ahead');
    await createAccount(directory, 'ann@example.org');
    const record = new Database(join(directory, 'record.sqlite'));
    const aheadInterval = Math.floor((Date.now() + 60_000) / 250);
    record.run('update watermark set interval = ?', [aheadInterval]);
    record.close();
    const started = await serveProcess(['--data', directory]);
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
    const lines = started
      .log()
      .split('\n')
      .filter((line) => line.includes('"aheadMs"'));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'warn',
      aheadMs: expect.any(Number),
    });
    expect(lines[0]).toMatch(/service time is (59|60) s ahead of the system clock/);
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
    expect(again.startMs).toBeLessThan(2_000);
    expect((await fetch(`${again.url}/api/v1/streams/${streamId}/`)).status).toBe(200);
    again.signal('SIGTERM');
    expect(await again.exited).toBe(0);
  });
});
