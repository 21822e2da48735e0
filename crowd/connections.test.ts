import { afterAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ConnectionLost, Connections, parseResponse } from './connections.ts';

const seen: { method: string; path: string; body: string; port: number | undefined }[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request, listener) {
    const { pathname } = new URL(request.url);
    const port = listener.requestIP(request)?.port;
    seen.push({ method: request.method, path: pathname, body: await request.text(), port });
    if (pathname === '/wait') await Bun.sleep(30);
    if (pathname === '/large') return new Response('x'.repeat(300_000));
    if (pathname === '/later')
      return new Response('{}', { status: 503, headers: { 'Retry-After': '2' } });
    if (pathname === '/nothing') return new Response(null, { status: 204 });
    return Response.json({ auth: request.headers.get('authorization') });
  },
});
afterAll(() => server.stop(true));

function connections(port = server.port ?? 0) {
  return new Connections({ hostname: '127.0.0.1', port });
}

const textOf = (body: Uint8Array) => Buffer.from(body).toString();

describe('Connections', () => {
  test('Connections sends requests and returns responses', async () => {
    const http = connections();
    const read = await http.request('GET', '/read?interval=1', 'Authorization: Bearer abc\r\n');
    expect(textOf(read.body)).toBe('{"auth":"Bearer abc"}');
    const written = await http.request('POST', '/nothing', '', '{"choice":"Škoda"}');
    expect([written.status, written.body.length]).toEqual([204, 0]);
    expect(seen.at(-1)).toMatchObject({ method: 'POST', body: '{"choice":"Škoda"}' });
    await http.request('POST', '/nothing', '');
    expect(seen.at(-1)?.body).toBe('');
    expect(await http.request('GET', '/later', '')).toMatchObject({ status: 503, retryAfterS: 2 });
  });

  test('Connections reuses connections, and opens as many as there are concurrent requests', async () => {
    const http = connections();
    await http.request('GET', '/read', '');
    await http.request('GET', '/read', '');
    expect(seen.at(-1)?.port).toBe(seen.at(-2)?.port as number);
    await Promise.all([1, 2, 3].map(() => http.request('GET', '/wait', '')));
    expect(new Set(seen.slice(-3).map(({ port }) => port)).size).toBe(3);
  });

  test('Connections reads a response that arrives in many chunks', async () => {
    const http = connections();
    const { body } = await http.request('GET', '/large', '');
    expect(textOf(body)).toBe('x'.repeat(300_000));
  });

  test('Connections throws ConnectionLost when nobody listens or the server closes', async () => {
    const closing = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: { data: (socket) => void socket.end() },
    });
    await expect(connections(closing.port).request('GET', '/', '')).rejects.toThrow(ConnectionLost);
    const { port } = closing;
    closing.stop(true);
    await expect(connections(port).request('GET', '/', '')).rejects.toThrow(ConnectionLost);
  });
});

test('parseResponse returns a complete response, and throws for invalid ones', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 40 });
  fc.assert(
    fc.property(texts, fc.constantFrom(200, 400, 503), (text, status) => {
      const body = Buffer.from(text);
      const head = `HTTP/1.1 ${status} X\r\nVary: Accept\r\ncontent-length: ${body.length}\r\n\r\n`;
      const bytes = Buffer.concat([Buffer.from(head), body]);
      for (let length = 0; length < bytes.length; length++) {
        expect(parseResponse(bytes.subarray(0, length))).toBeNull();
      }
      const parsed = parseResponse(bytes);
      expect(parsed?.response.status).toBe(status);
      expect(textOf(parsed?.response.body ?? new Uint8Array())).toBe(text);
    }),
  );
  expect(() => parseResponse(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))).toThrow('Content-Length');
  expect(() => parseResponse(Buffer.from('SSH-2.0-x\r\n\r\n'))).toThrow('not an HTTP/1.1');
});
