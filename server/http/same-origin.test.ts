import { expect, test } from 'bun:test';
import { isFromElsewhere } from './same-origin.ts';

const PUBLIC = 'https://live.example.org';
const isElsewhere = (
  headers: Record<string, string>,
  origin = PUBLIC,
  url = `${origin}/studio/v1`,
) => isFromElsewhere(new Request(url, { headers }), origin);

test.each([
  {},
  { Origin: PUBLIC },
  { 'Sec-Fetch-Site': 'same-origin' },
  { 'Sec-Fetch-Site': 'none' },
  { 'Sec-Fetch-Site': 'same-origin', Origin: PUBLIC },
])('[U-7] a page of this service, or no page at all: %j', (headers) => {
  expect(isElsewhere(headers)).toBe(false);
});

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
])('[U-7] the page of another origin: %j', (headers) => {
  expect(isElsewhere(headers as Record<string, string>)).toBe(true);
});

test('[U-7] a page on another port of the same host is of another origin', () => {
  const local = 'http://localhost:4250';
  expect(isElsewhere({ Origin: local }, local)).toBe(false);
  expect(isElsewhere({ Origin: 'http://localhost:3000' }, local)).toBe(true);
});

test('[U-7] behind a proxy that ends TLS it is the host that tells', () => {
  const seen = 'http://live.example.org';
  expect(isElsewhere({ Origin: PUBLIC }, seen)).toBe(false);
  expect(isElsewhere({ Origin: 'https://evil.example' }, seen)).toBe(true);
});
