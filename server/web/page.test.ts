import { expect, test } from 'bun:test';
import { type PageRules, servePage, textPage } from './page.ts';

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
