import { expect, test } from 'bun:test';
import { accepts } from './accept.ts';

const accepted = (accept: string | null) =>
  accepts(
    new Request('http://127.0.0.1/', { headers: accept === null ? {} : { Accept: accept } }),
    'text/plain',
  );

test.each([
  'text/plain',
  'Text/PLAIN',
  'text/html, text/plain',
  ' text/plain ;charset=utf-8; q=0.1',
  'text/plain;q=0.001,*/*;q=0',
])('[G-14] [K-3] %p names text/plain', (accept) => {
  expect(accepted(accept)).toBe(true);
});

test.each([
  null,
  '',
  '*/*',
  'text/*',
  'text/plainer',
  'xtext/plain',
  'text/html;title="text/plain"',
  'text/plain;q=0',
  'text/plain; charset=utf-8; q = 0.000',
])('[G-15] %p does not', (accept) => {
  expect(accepted(accept)).toBe(false);
});
