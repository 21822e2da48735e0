import { afterAll, expect, test } from 'bun:test';
import { fetchSourceAddress, SourceAddressError } from './source-address.ts';

const STREAM = '7f0c3f2e-0d5e-4a5c-9d0a-3f6f6d6c1a01';
let status = 'CREATED';
let errorResponse: (() => Response) | null = null;
const requests: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    requests.push(`${pathname} ${request.headers.get('authorization')}`);
    if (errorResponse) return errorResponse();
    return pathname.endsWith('/ingest')
      ? Response.json({ key: 'sk_1', websocket: { url: 'ws://example/media' } })
      : Response.json({ title: 'Quiz night', status });
  },
});
afterAll(() => server.stop(true));

const fetchAddress = (origin = server.url.origin) =>
  fetchSourceAddress({ origin, token: 'fb_1', streamId: STREAM });

async function errorFor(answer: () => Response): Promise<SourceAddressError> {
  errorResponse = answer;
  const error = await fetchAddress().catch((thrown: unknown) => thrown);
  errorResponse = null;
  if (error instanceof SourceAddressError) return error;
  throw new Error('expected a SourceAddressError');
}

test('[M-1] the key and the address come from the studio API', async () => {
  expect(await fetchAddress()).toEqual({
    key: 'sk_1',
    url: 'ws://example/media',
    title: 'Quiz night',
  });
  expect(requests).toEqual([
    `/studio/v1/streams/${STREAM} Token fb_1`,
    `/studio/v1/streams/${STREAM}/ingest Token fb_1`,
  ]);
});

test('[M-9] an error of the studio API tells the user what to do', async () => {
  const problem = (code: number) => () =>
    Response.json({ detail: 'Try again later.' }, { status: code });
  expect(await errorFor(problem(401))).toMatchObject({ isTransient: false });
  expect((await errorFor(problem(401))).message).toContain('--token');
  expect((await errorFor(problem(404))).message).toContain('--stream');
  expect(await errorFor(problem(404))).toMatchObject({ isTransient: false });
  expect(await errorFor(problem(503))).toMatchObject({
    isTransient: true,
    message: 'Try again later.',
  });
  const htmlError = () => new Response('<html>', { status: 502 });
  expect(await errorFor(htmlError)).toMatchObject({ isTransient: true });
});

test('[M-9] a stream that has ended is a permanent error', async () => {
  status = 'ENDED';
  expect(await fetchAddress().catch((error) => error)).toMatchObject({
    isTransient: false,
    message: expect.stringContaining('create a new one'),
  });
});

test('[M-9] an unreachable service is a transient error', async () => {
  expect(await fetchAddress('http://127.0.0.1:1').catch((error) => error)).toMatchObject({
    isTransient: true,
  });
});
