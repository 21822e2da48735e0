import { expect, test } from 'bun:test';
import { isCrossOrigin, isOfOtherSite, isOfShow } from './sessions.ts';

const PUBLIC = 'https://live.example.org';
const crossOrigin = (
  headers: Record<string, string>,
  origin = PUBLIC,
  url = `${origin}/studio/v1`,
) => isCrossOrigin(new Request(url, { headers }), origin);

test.each([
  {},
  { Origin: PUBLIC },
  { 'Sec-Fetch-Site': 'same-origin' },
  { 'Sec-Fetch-Site': 'none' },
  { 'Sec-Fetch-Site': 'same-origin', Origin: PUBLIC },
])(
  '[U-7] a request of a page of this service, or of no page, is not cross-origin: %j',
  (headers) => {
    expect(crossOrigin(headers)).toBe(false);
  },
);

test.each([
  { Origin: 'https://evil.example' },
  { Origin: 'https://live.example.org.evil.example' },
  { Origin: 'https://live.example.org:8443' },
  { Origin: 'null' },
  { Origin: '' },
  { Origin: 'nonsense' },
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: PUBLIC },
  { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://evil.example' },
])('[U-7] a request of a page of another origin is cross-origin: %j', (headers) => {
  expect(crossOrigin(headers as Record<string, string>)).toBe(true);
});

test('[U-7] a request of a page on another port of the host is cross-origin', () => {
  const local = 'http://localhost:4250';
  expect(crossOrigin({ Origin: local }, local)).toBe(false);
  expect(crossOrigin({ Origin: 'http://localhost:3000' }, local)).toBe(true);
});

test('[U-7] behind a proxy that ends TLS only the host is compared', () => {
  const plainOrigin = 'http://live.example.org';
  expect(crossOrigin({ Origin: PUBLIC }, plainOrigin)).toBe(false);
  expect(crossOrigin({ Origin: 'https://evil.example' }, plainOrigin)).toBe(true);
});

test('[U-7] a request without a valid host is of no page of this service', () => {
  const headers = new Headers({ Origin: 'null' });
  expect(isCrossOrigin({ headers, url: '/studio/v1' } as Request, PUBLIC)).toBe(true);
});

const API = `${PUBLIC}/studio/v1/account`;
const PREVIEW = `${PUBLIC}/media/preview/x/720p.m3u8`;
test.each<[string, Record<string, string>, boolean]>([
  [API, {}, false],
  [API, { 'Sec-Fetch-Dest': 'empty', Referer: `${PUBLIC}/studio/shows` }, false],
  [API, { 'Sec-Fetch-Dest': 'document' }, false],
  [PREVIEW, { 'Sec-Fetch-Dest': 'video' }, false],
  [API, { 'Sec-Fetch-Dest': 'empty', Referer: `${PUBLIC}/watch/x` }, true],
  [API, { Referer: `${PUBLIC}/docs` }, false],
  [PREVIEW, { Referer: `${PUBLIC}/watch/x?y` }, true],
  [API, { 'Sec-Fetch-Dest': 'image' }, true],
  [API, { 'Sec-Fetch-Dest': 'video' }, true],
])(
  '[U-7] the content of a show does not use the session of a member who watches it: %s %j',
  (url, headers, expected) => {
    expect(isOfShow(new Request(url, { headers }))).toBe(expected);
  },
);

test.each<[Record<string, string>, boolean]>([
  [{}, false],
  [{ 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'empty' }, false],
  [{ 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Dest': 'document' }, false],
  [{ 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Dest': 'document' }, false],
  [{ 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Dest': 'empty' }, true],
  [{ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image' }, true],
  [{ 'Sec-Fetch-Site': 'same-site' }, true],
])('[U-7] a page of another origin uses no session in the background: %j', (headers, expected) => {
  expect(isOfOtherSite(new Request(API, { headers }))).toBe(expected);
});
