import { afterAll, expect, test } from 'bun:test';
import { askForAddress, NoAddress } from './source-address.ts';

const STREAM = '7f0c3f2e-0d5e-4a5c-9d0a-3f6f6d6c1a01';
let status = 'CREATED';
let refusal: (() => Response) | null = null;
const seen: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    seen.push(`${pathname} ${request.headers.get('authorization')}`);
    if (refusal) return refusal();
    return pathname.endsWith('/ingest')
      ? Response.json({ key: 'sk_1', websocket: { url: 'ws://example/media' } })
      : Response.json({ title: 'Quiz night', status });
  },
});
afterAll(() => server.stop(true));

const ask = (origin = server.url.origin) =>
  askForAddress({ origin, token: 'fb_1', streamId: STREAM });

async function refusedWith(answer: () => Response): Promise<NoAddress> {
  refusal = answer;
  const error = await ask().catch((thrown: unknown) => thrown);
  refusal = null;
  if (error instanceof NoAddress) return error;
  throw new Error('it was not refused');
}

test('[M-1] the key and the address are those that the studio API tells', async () => {
  expect(await ask()).toEqual({ key: 'sk_1', url: 'ws://example/media', title: 'Quiz night' });
  expect(seen).toEqual([
    `/studio/v1/streams/${STREAM} Token fb_1`,
    `/studio/v1/streams/${STREAM}/ingest Token fb_1`,
  ]);
});

test('[M-9] who is refused is told what to do', async () => {
  const json = (code: number) => () =>
    Response.json({ detail: 'Try again later.' }, { status: code });
  expect(await refusedWith(json(401))).toMatchObject({ isPassing: false });
  expect((await refusedWith(json(401))).message).toContain('--token');
  expect((await refusedWith(json(404))).message).toContain('--stream');
  expect(await refusedWith(json(404))).toMatchObject({ isPassing: false });
  expect(await refusedWith(json(503))).toMatchObject({
    isPassing: true,
    message: 'Try again later.',
  });
  const ugly = () => new Response('<html>', { status: 502 });
  expect(await refusedWith(ugly)).toMatchObject({ isPassing: true });
});

test('[M-9] a stream that has ended is no place to send to', async () => {
  status = 'ENDED';
  expect(await ask().catch((error) => error)).toMatchObject({
    isPassing: false,
    message: expect.stringContaining('make a new one'),
  });
});

test('[M-9] a service that is not there may come back', async () => {
  expect(await ask('http://127.0.0.1:1').catch((error) => error)).toMatchObject({
    isPassing: true,
  });
});
