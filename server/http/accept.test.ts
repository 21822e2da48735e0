import { expect, test } from 'bun:test';
import { accepts, prefers } from './accept.ts';

test.each([
  'text/plain',
  'Text/PLAIN',
  'text/html, text/plain',
  ' text/plain ;charset=utf-8; q=0.1',
  'text/plain;q=0.001,*/*;q=0',
])('[G-14] Accept %p names text/plain', (accept) => {
  expect(accepts(accept, 'text/plain')).toBe(true);
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
])('[G-14] Accept %p does not name text/plain', (accept) => {
  expect(accepts(accept, 'text/plain')).toBe(false);
});

test.each([
  'text/plain',
  'TEXT/Plain; charset=utf-8',
  'text/plain;q=0.1',
  'text/plain, application/json',
  'text/plain, */*',
  '*/*, text/plain',
  'text/plain;q=0.8, application/json;q=0.5',
  'application/json;q=0.5, text/plain;q=0.8',
  'text/*',
  'text/*, application/json;q=0.9',
  'text/*, */*',
  'application/json;q=0, */*',
  'application/*, text/plain',
  'text/html, text/plain',
])('[G-15] [K-3] Accept %p prefers text/plain over JSON', (accept) => {
  expect(prefers(accept, 'text/plain')).toBe(true);
});

test.each([
  null,
  '',
  '*/*',
  'application/json, text/plain, */*',
  'application/json, text/plain',
  'text/plain;q=0.1, application/json',
  'application/json;q=0.9, text/plain;q=0.8',
  'application/json',
  'application/*',
  'text/*, application/json',
  'text/*, application/*',
  'text/html, application/xhtml+xml, */*;q=0.8',
  'text/plain;q=0.5, */*',
  'text/*;q=0.5, */*;q=0.8',
  'text/plain;q=0, text/*, application/json;q=0.1',
  'text/plain;q=0',
  'text/plain;q=0, application/json;q=0',
  'application/json;q=0',
  'text/html',
  'text/plainer',
  ',;q=,;;',
])('[G-15] [K-3] Accept %p does not prefer text/plain over JSON', (accept) => {
  expect(prefers(accept, 'text/plain')).toBe(false);
});

test('[G-15] only the first 32 types of Accept count', () => {
  const others = 'a/b, '.repeat(31);
  expect(prefers(`${others}text/plain`, 'text/plain')).toBe(true);
  expect(prefers(`${others}a/b, text/plain`, 'text/plain')).toBe(false);
});
