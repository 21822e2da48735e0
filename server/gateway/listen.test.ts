import { expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { operatorRoutes } from '../http/operator-routes.ts';
import type { PathHandler } from '../http/router.ts';
import { documentRoutes } from '../web/docs.ts';
import { listen } from './listen.ts';

const SECRET = 'SECRET-in-the-cause'; // No response may contain it.
const fail = (): never => {
  throw new Error(SECRET);
};

/** Starts a server whose other paths fail. @returns the response to a GET of the path */
async function fetchFrom(
  routes: Record<string, PathHandler>,
  path: string,
  logDefect: unknown[] = [],
) {
  const log = {
    requestId: () => 'request-1',
    logDefect: (...of: unknown[]) => void logDefect.push(of),
  };
  const server = listen({ host: '127.0.0.1', port: 0, routes, fetch: fail, corsOrigin: '*', log });
  try {
    const response = await fetch(new URL(path, server.url));
    return { response, text: await response.text() };
  } finally {
    await server.stop();
  }
}

const expected500 = {
  type: 'about:blank',
  title: 'Internal Server Error',
  status: 500,
  detail: 'An internal error occurred. Try again.',
};

test.each([
  ['throws', '/sync', fail],
  ['rejects', '/later', async () => fail()],
])(
  '[G-28] a server sends a 500 without details of the error when a route %s',
  async (_, path, route) => {
    const logDefect: unknown[] = [];
    const { response, text } = await fetchFrom({ [path]: route }, path, logDefect);
    expect(response.status).toBe(500);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-request-id')).toBe('request-1');
    expect(JSON.parse(text)).toEqual(expected500);
    expect(logDefect).toHaveLength(1);
  },
);

test('[G-28] a server sends a 500 without details when the handler of unknown paths throws', async () => {
  const { response, text } = await fetchFrom({}, '/nothing');
  expect([response.status, JSON.parse(text)]).toEqual([500, expected500]);
});

test('[G-28] [O-12] an operator route sends a 500 with its request id and Allow header when it fails', async () => {
  const logDefect: unknown[] = [];
  const routes = operatorRoutes({
    unreadyReason: fail,
    metrics: { contentType: 'text/plain', render: async () => fail() },
    metricsAccess: {
      listener: { server: { requestIP: () => ({ address: '127.0.0.1' }) } },
      trustProxy: false,
      token: null,
    },
    corsOrigin: '*',
    log: { requestId: () => 'request-2', logDefect: (...of) => void logDefect.push(of) },
  });
  for (const path of ['/metrics', '/readyz/']) {
    const { response, text } = await fetchFrom(routes, path);
    expect([response.status, JSON.parse(text)]).toEqual([500, expected500]);
    expect(response.headers.get('x-request-id')).toBe('request-2');
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  }
  expect(logDefect).toMatchObject([
    [{ method: 'GET', path: '/metrics' }, 'request-2', { message: SECRET }],
    [{ method: 'GET', path: '/readyz' }, 'request-2', { message: SECRET }],
  ]);
});

const unusedLog = { requestId: () => 'x', logDefect: () => {} };
const options = {
  host: '127.0.0.1',
  routes: documentRoutes({ version: '1', corsOrigin: '*', log: unusedLog }),
  fetch: fail,
  corsOrigin: '*',
  log: unusedLog,
};

test('listen throws an error that names the port when it is in use', () => {
  const first = listen({ ...options, port: 0 });
  try {
    expect(() => listen({ ...options, port: first.port ?? 0 })).toThrow(
      `port ${first.port} is in use`,
    );
  } finally {
    void first.stop();
  }
});

const hasIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.family === 'IPv6');

test('listen without a host listens on IPv4, and on IPv6 where the machine has it', async () => {
  const server = listen({ ...options, host: null, port: 0 });
  try {
    for (const host of ['127.0.0.1', ...(hasIPv6 ? ['[::1]'] : [])]) {
      expect((await fetch(`http://${host}:${server.port}/openapi.json`)).status).toBe(200);
    }
  } finally {
    await server.stop();
  }
});

test.if(hasIPv6)(
  'listen reports a port in use when another process has it on IPv6 only',
  async () => {
    const other = createServer();
    await new Promise<void>((resolve) =>
      other.listen({ port: 0, host: '::', ipv6Only: true }, resolve),
    );
    const { port } = other.address() as { port: number };
    try {
      expect(() => listen({ ...options, host: null, port })).toThrow(`port ${port} is in use`);
    } finally {
      other.close();
    }
  },
);

test('listen throws an error that names --host when the host is no address of this machine', async () => {
  const first = listen({ ...options, host: '127.0.0.1', port: 0 });
  // After this error the runtime reports EADDRINUSE for the unknown host too: `listen` must check.
  const { port = 0 } = first;
  expect(() => listen({ ...options, host: '127.0.0.1', port })).toThrow(`port ${port} is in use`);
  await first.stop();
  expect(() => listen({ ...options, host: 'nosuch.invalid', port: 0 })).toThrow(
    '--host nosuch.invalid, port 0: this is no name or address of this machine',
  );
});
