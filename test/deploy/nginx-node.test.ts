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
  const created = await fetch(`${nginx.url}/studio/v1/streams`, {
    method: 'POST',
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    body: '{"title":"A show"}',
  });
  streamId = ((await created.json()) as { id: string }).id;
}, START_TIMEOUT_MS);

afterAll(async () => {
  await nginx?.stop();
  await killServers();
  folder.remove();
});

interface TokenResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

/** Requests a viewer token from a loopback address, with a forged `X-Forwarded-For`. */
function requestToken(localAddress: string, forwardedFor: string): Promise<TokenResponse> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': forwardedFor };
    const options = { method: 'POST', localAddress, headers };
    const outgoing = request(`${nginx.url}/api/v1/token`, options, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, retryAfter: headers['retry-after'], body });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ stream_id: streamId, unique_user_identifier: forwardedFor }));
  });
}

describe('nginx of deploy/compose with one node as all three of its servers', () => {
  test("[L-11] the node gets the client's real address despite a forged header; nginx forwards Retry-After of a 429", async () => {
    const responses: TokenResponse[] = [];
    for (let n = 0; n < 4; n++) responses.push(await requestToken('127.0.0.1', `198.51.100.${n}`));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(Number(responses[3]?.retryAfter)).toBeGreaterThan(0);
    expect(JSON.parse(responses[3]?.body ?? '')).toMatchObject({ status: 429 });
    expect((await requestToken('127.0.0.2', '198.51.100.9')).status).toBe(200);
  });

  test('[O-12] nginx serves /readyz and answers 404 for /metrics in every spelling', async () => {
    for (const path of ['/metrics', '/metrics/', '/%6detrics', '//metrics', '/x/../metrics']) {
      const response = await fetch(nginx.url + path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ status: 404 });
    }
    expect((await fetch(`${node.url}/metrics`)).status).toBe(200);
    expect((await fetch(`${nginx.url}/readyz`)).status).toBe(200);
  });

  test('[L-1] a body that is too large is 413, from the node or from nginx', async () => {
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

  test('[L-1] nginx forwards large imports and rundowns to the node: 401, not 413', async () => {
    for (const [path, size] of [
      ['quizzes/import', 1_000_000],
      ['quizzes/import/preview', 1_000_000],
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

  test('[S-12] [T-14] nginx forwards the caching and CORS headers unchanged', async () => {
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

  test('[M-4] [M-5] the media node closes a WebSocket source with a wrong key', async () => {
    const socket = new WebSocket(`${nginx.url.replace('http', 'ws')}/media/${streamId}/ingest`);
    const closed = Promise.withResolvers<CloseEvent>();
    socket.onclose = closed.resolve;
    socket.onopen = () => socket.send(JSON.stringify({ key: 'sk_none', type: 'video/webm' }));
    expect((await closed.promise).code).toBe(4401);
  });

  test('[M-31] a missing media file gets the 404 of the node', async () => {
    const path = `/media/${streamId}/master.m3u8`;
    const [through, direct] = await Promise.all([fetch(nginx.url + path), fetch(node.url + path)]);
    expect([through.status, direct.status]).toEqual([404, 404]);
    expect(through.headers.get('access-control-allow-origin')).toBe('*');
    expect(await through.text()).toBe(await direct.text());
  });

  test('[G-27] nginx responds 503 with Retry-After and a problem body when no node is reachable', async () => {
    const nodes = await Promise.all([freePort(), freePort(), freePort()]);
    const withoutNodes = await startNginxOnFreePort({ nodes });
    try {
      for (const method of ['GET', 'POST']) {
        const response = await fetch(`${withoutNodes.url}/api/v1/view-counts/${streamId}`, {
          method,
        });
        expect(response.status).toBe(503);
        expect(response.headers.get('retry-after')).toBe('1');
        expect(response.headers.get('content-type')).toBe('application/json');
        const problem = { type: 'about:blank', status: 503, title: 'Service Unavailable' };
        expect(await response.json()).toMatchObject(problem);
      }
    } finally {
      await withoutNodes.stop();
    }
  });
});
