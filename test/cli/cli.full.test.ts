import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { closeSync, mkdirSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import {
  createAccount,
  createStream,
  currentInterval,
  expectFailure,
  until,
  viewerToken,
} from '../support/harness/command-line.ts';
import {
  fourbeat,
  killServers,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from '../support/harness/program.ts';

// Unusual starts and ends of a server process, and their settings.

const folder = temporaryFolder();
let server: ServerProcess;

beforeAll(async () => {
  server = await serveProcess(['--data', folder.path('shared')]);
});

afterAll(async () => {
  await killServers();
  folder.remove();
});

test('[O-3] concurrent account create commands all succeed', async () => {
  const fresh = folder.path('crowded');
  const accounts = await Promise.all(
    Array.from({ length: 6 }, (_, n) => createAccount(fresh, `user-${n}@example.org`)),
  );
  expect(new Set(accounts.map(({ uuid }) => uuid)).size).toBe(6);
});

test('[L-3] a connection that drips its headers is closed within 15 s', async () => {
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

test('a port in use and an unusable directory end the start with one line', async () => {
  const port = String(server.port);
  const busy = ['--port', port, '--host', '127.0.0.1', '--data', folder.path('busy')];
  expect(expectFailure(await fourbeat(['serve', ...busy]))).toContain(`port ${port} is in use`);
  const file = folder.path('file');
  writeFileSync(file, '');
  for (const directory of [file, join(file, 'below')]) {
    const line = expectFailure(await fourbeat(['serve', '--port', '0', '--data', directory]));
    expect(line).toContain(`--data ${directory} cannot be written`);
  }
});

test('an invalid host and a damaged database end the start with one line', async () => {
  const host = ['--host', 'nosuch.invalid', '--data', folder.path('no-host')];
  expect(expectFailure(await fourbeat(['serve', '--port', '0', ...host]))).toContain(
    '--host nosuch.invalid',
  );
  const damaged = folder.path('damaged');
  mkdirSync(damaged);
  writeFileSync(join(damaged, 'record.sqlite'), 'no database'.repeat(1_000));
  expect(expectFailure(await fourbeat(['serve', '--port', '0', '--data', damaged]))).toContain(
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
  const longPoll = feed(4, 'application/json');
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
  expect((await longPoll).status).toBe(200);
  await Promise.all(readers);
  expect(statuses).toEqual(new Set([200, 503]));
});

test('[O-11] [O-13] a log that is not read blocks neither the service nor its end', async () => {
  const pipe = folder.path('log');
  expect(Bun.spawnSync(['mkfifo', pipe]).exitCode).toBe(0);
  const unread = openSync(pipe, 'r+');
  const data = ['--data', folder.path('unread'), '--log-level', 'debug'];
  const started = await serveProcess(data, {}, unread);
  // Each request is logged in about 200 bytes, and a pipe holds 64 KB.
  for (let request = 0; request < 1_000; request++) {
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
  for (let request = 0; request < 10; request++) {
    expect((await fetch(`${started.url}/api/v1/users/me`)).status).toBe(401);
  }
  started.signal('SIGTERM');
  expect(await started.exited).toBe(0);
  closeSync(full);
});

test.each([1, 2])(
  '[O-11] [F-25] an event stream whose client reads nothing does not keep the server from its end, with %d threads',
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
    // Send more than the buffers of both sides hold, which is a few MB.
    const url = `${started.url}/studio/v1/streams/${streamId}/events`;
    for (let n = 0; n < 50; n++) {
      const sent = Array.from({ length: 60 }, () => fetch(url, post));
      for (const { status } of await Promise.all(sent)) expect(status).toBe(201);
    }
    // An interval takes 256 KB of them (F-14).
    for (let bytes = 0, next = interval; bytes < 50 * 60 * 3_900; next++) {
      const response = await fetch(
        `${started.url}/api/v1/events-streams/${streamId}?interval=${next}`,
        { headers: { Authorization: `Bearer ${bearer}` } },
      );
      bytes += (await response.bytes()).length;
    }
    const reader = connect(started.port, '127.0.0.1');
    reader.write(
      `GET /api/v1/events-streams/${streamId}?interval=${interval} HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${bearer}\r\n\r\n`,
    );
    await new Promise((resolve) => reader.once('data', resolve));
    reader.pause();
    // Wait until the buffers are full.
    await Bun.sleep(500);
    const signalMs = performance.now();
    started.signal('SIGTERM');
    expect(await started.exited).toBe(0);
    // The server gave the slow client 3 s (O-11).
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
  const database = new Database(join(directory, 'record.sqlite'));
  const beganMs = Date.now();
  const aheadInterval = Math.floor((beganMs + 60_000) / 250);
  database.run('update watermark set interval = ?', [aheadInterval]);
  database.close();
  const started = await serveProcess(['--data', directory]);
  started.signal('SIGTERM');
  expect(await started.exited).toBe(0);
  const lines = started
    .log()
    .split('\n')
    .filter((line) => line.includes('"aheadMs"'));
  expect(lines).toHaveLength(1);
  const { level, aheadMs, msg } = JSON.parse(lines[0] ?? '');
  expect(level).toBe('warn');
  expect(aheadMs).toBeWithin(60_000 - (Date.now() - beganMs) - 250, 60_251);
  expect(msg).toContain(
    `service time is ${Math.round(aheadMs / 1_000)} s ahead of the system clock`,
  );
});
