import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { type PageRules, servePage, textPage, withGzip } from './page.ts';

const page = textPage('text/html; charset=utf-8', '<!doctype html>');

async function headersOf(rules: PageRules): Promise<Headers> {
  const response = servePage(page, rules)(new Request('http://127.0.0.1/'), {}, 'request-1');
  return (await response).headers;
}

test('a page hands its window to no other page, and uses no device', async () => {
  const headers = await headersOf({ policy: "default-src 'none'" });
  expect(headers.get('content-security-policy')).toBe("default-src 'none'");
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
  const permissions = headers.get('permissions-policy')?.split(', ') ?? [];
  expect(permissions).toEqual(expect.arrayContaining(['camera=()', 'geolocation=()', 'usb=()']));
});

test('a page that sends a camera may ask for camera and microphone, and nothing else', async () => {
  const headers = await headersOf({ policy: '', usesCamera: true });
  const allowed = headers.get('permissions-policy')?.split(', ') ?? [];
  expect(allowed.filter((entry) => !entry.endsWith('=()'))).toEqual([
    'camera=(self)',
    'microphone=(self)',
  ]);
});

test.each(['identity', 'gzip'])(
  'unread responses with a page share its bytes (%s)',
  async (encoding) => {
    const content = randomBytes(2_000_000).toString('base64');
    const serve = servePage(await withGzip(textPage('text/javascript', content)), { policy: '' });
    const options = { headers: { 'Accept-Encoding': encoding } };
    const respond = () => serve(new Request('http://127.0.0.1/', options), {}, 'request-1');
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    const unread = await Promise.all(Array.from({ length: 100 }, respond));
    expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
    expect(unread[0]?.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
    const sent = await unread[0]?.bytes();
    const plain = encoding === 'gzip' ? Bun.gunzipSync(sent as Uint8Array<ArrayBuffer>) : sent;
    expect(Buffer.from(plain as Uint8Array).toString()).toBe(content);
  },
);
