import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { request } from 'node:http';
import { freePort } from '../support/backends/free-port.ts';
import { type Nginx, startNginxOnFreePort } from '../support/deploy/nginx.ts';
import {
  fourbeat,
  killServers,
  type ServerProcess,
  serveProcess,
  temporaryFolder,
} from '../support/harness/program.ts';

const START_TIMEOUT_MS = 30_000;

const folder = temporaryFolder();
let node: ServerProcess;
let nginx: Nginx;
let streamId: string;

beforeAll(async () => {
  const data = ['--data', folder.path('data')];
  node = await serveProcess([...data, '--trust-proxy', '--rate-tokens', '3/60']);
  nginx = await startNginxOnFreePort({ nodes: [node.port, node.port, node.port] });
  const email = ['--email', 'ann@example.org', '--name', 'Ann'];
  const account = await fourbeat(['account', 'create', ...email, ...data]);
  const { token } = JSON.parse(account.stdout) as { token: string };
  const made = await fetch(`${nginx.url}/studio/v1/streams`, {
    method: 'POST',
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    body: '{"title":"A show"}',
  });
  streamId = ((await made.json()) as { id: string }).id;
}, START_TIMEOUT_MS);

afterAll(async () => {
  await nginx?.stop();
  await killServers();
  folder.remove();
});

interface Asked {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** Asks for a viewer token from an address of this machine, with a claim about who asks. */
function askFrom(localAddress: string, claimed: string): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': claimed };
    const options = { method: 'POST', localAddress, headers };
    const asked = request(`${nginx.url}/api/v1/token`, options, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, retryAfter: headers['retry-after'], body });
      });
    });
    asked.on('error', reject);
    asked.end(JSON.stringify({ stream_id: streamId, unique_user_identifier: claimed }));
  });
}

describe('nginx of deploy/compose in front of one node', () => {
  test("[L-11] the node hears the client's own address, whatever it claims; 429 comes with Retry-After", async () => {
    const answers: Asked[] = [];
    for (let n = 0; n < 4; n++) answers.push(await askFrom('127.0.0.1', `198.51.100.${n}`));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(Number(answers[3]?.retryAfter)).toBeGreaterThan(0);
    expect(JSON.parse(answers[3]?.body ?? '')).toMatchObject({ status: 429 });
    expect((await askFrom('127.0.0.2', '198.51.100.9')).status).toBe(200);
  });

  test('[O-12] metrics are not for the internet; readiness is', async () => {
    for (const path of ['/metrics', '/metrics/', '/%6detrics', '//metrics', '/x/../metrics']) {
      const response = await fetch(nginx.url + path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ status: 404 });
    }
    expect((await fetch(`${node.url}/metrics`)).status).toBe(200);
    expect((await fetch(`${nginx.url}/readyz`)).status).toBe(200);
  });

  test('[L-1] a body that is too large gets the answer of the node, one that is far too large that of nginx', async () => {
    for (const size of [5_000, 100_000]) {
      const response = await fetch(`${nginx.url}/api/v1/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ unique_user_identifier: 'x'.repeat(size) }),
      });
      expect(response.status).toBe(413);
      const problem = { type: 'about:blank', title: 'Content Too Large', status: 413 };
      expect(await response.json()).toMatchObject(problem);
    }
  });

  test('[L-1] files of quizzes and long orders of them get to the node', async () => {
    for (const [path, size] of [
      ['quizzes/import', 1_000_000],
      ['rundown', 130_000],
    ] as const) {
      const response = await fetch(`${nginx.url}/studio/v1/streams/${streamId}/${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ text: 'x'.repeat(size) }),
      });
      expect([path, response.status]).toEqual([path, 401]);
    }
  });

  test('[S-12] [T-14] what the service says about caching comes through as it is', async () => {
    for (const path of ['/.well-known/jwks.json', '/api/v1/time', `/api/v1/streams/${streamId}`]) {
      const [through, direct] = await Promise.all([
        fetch(nginx.url + path),
        fetch(node.url + path),
      ]);
      for (const header of ['cache-control', 'vary', 'allow', 'access-control-allow-origin']) {
        expect([header, through.headers.get(header)]).toEqual([header, direct.headers.get(header)]);
      }
    }
  });

  test('[M-4] [M-5] sources that come by WebSocket reach the node with video, and hear its answer', async () => {
    const socket = new WebSocket(`${nginx.url.replace('http', 'ws')}/media/${streamId}/ingest`);
    const closed = Promise.withResolvers<CloseEvent>();
    socket.onclose = closed.resolve;
    socket.onopen = () => socket.send(JSON.stringify({ key: 'sk_none', type: 'video/webm' }));
    expect((await closed.promise).code).toBe(4401);
  });

  test('[M-31] what is not there of a stream is 404 of the node', async () => {
    const path = `/media/${streamId}/master.m3u8`;
    const [through, direct] = await Promise.all([fetch(nginx.url + path), fetch(node.url + path)]);
    expect([through.status, direct.status]).toEqual([404, 404]);
    expect(through.headers.get('access-control-allow-origin')).toBe('*');
    expect(await through.text()).toBe(await direct.text());
  });

  test('[G-27] when no node is left nginx says 503 with Retry-After in the form of the API', async () => {
    const nodes = await Promise.all([freePort(), freePort(), freePort()]);
    const alone = await startNginxOnFreePort({ nodes });
    try {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(`${alone.url}/api/v1/view-counts/${streamId}`, { method });
        expect(response.status).toBe(503);
        expect(response.headers.get('retry-after')).toBe('1');
        expect(response.headers.get('content-type')).toBe('application/json');
        const problem = { type: 'about:blank', status: 503, title: 'Service Unavailable' };
        expect(await response.json()).toMatchObject(problem);
      }
    } finally {
      await alone.stop();
    }
  });
});
