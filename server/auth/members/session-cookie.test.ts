import { expect, test } from 'bun:test';
import { newSecret } from '../secrets.ts';
import { sessionCookie } from './session-cookie.ts';

const secret = newSecret((n) => crypto.getRandomValues(new Uint8Array(n)));
const insecure = sessionCookie('http://localhost:4250');
const secure = sessionCookie('https://live.example.org');
const requestWith = (cookie: string) =>
  new Request('http://localhost/', { headers: { Cookie: cookie } });

test('[U-3] the session cookie is HttpOnly, SameSite=Strict and valid for 30 days', () => {
  const attributes = ['HttpOnly', 'SameSite=Strict', 'Path=/', 'Max-Age=2592000'];
  const [pair, ...rest] = insecure.set(secret).split('; ');
  expect(pair).toBe(`fourbeat=${secret}`);
  expect(rest.sort()).toEqual(attributes.sort());
});

test('[U-3] the session cookie over https is Secure and has the __Host- prefix', () => {
  const [pair, ...rest] = secure.set(secret).split('; ');
  expect(pair).toBe(`__Host-fourbeat=${secret}`);
  expect(rest).toContain('Secure');
  expect(secure.readSecret(requestWith(`fourbeat=${secret}`))).toBeNull();
  expect(secure.readSecret(requestWith(`a=b; __Host-fourbeat=${secret}`))).toBe(secret);
});

test('[U-6] clearing the session cookie sends the same attributes without a value', () => {
  expect(secure.clear).toBe(secure.set('').replace('Max-Age=2592000', 'Max-Age=0'));
  expect(insecure.clear).toStartWith('fourbeat=; ');
});

test.each([
  '',
  'fourbeat',
  'fourbeat=',
  'fourbeat=x',
  `fourbeat=${'a'.repeat(44)}`,
  'fourbeat=%zz',
])('[U-3] a malformed session cookie is ignored: %j', (cookie) => {
  expect(insecure.readSecret(requestWith(cookie))).toBeNull();
});
