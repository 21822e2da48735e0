import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readStreamIdRequest } from './stream-id.ts';

const KEY = 'sk_0123456789abcdefghijABCDEFGHIJKL';

test.each([
  `publish:${KEY}`,
  KEY,
  `#!::m=publish,r=${KEY}`,
  `#!::r=${KEY},m=publish,h=example.org`,
  `#!::u=${KEY},m=publish`,
  `#!::r=${KEY}`,
  `#!::m=bidirectional,r=${KEY}`,
  encodeURIComponent(`publish:${KEY}`),
  encodeURIComponent(`#!::m=publish,r=${KEY}`),
])('[M-3] the stream id %s contains the key', (streamId) => {
  expect(readStreamIdRequest(streamId)).toEqual({ key: KEY });
});

test.each([`play:${KEY}`, `read:${KEY}`, `#!::m=request,r=${KEY}`])(
  '[M-3] the stream id %s asks to receive',
  (streamId) => {
    expect(readStreamIdRequest(streamId)).toBe('play');
  },
);

test.each([
  '',
  'publish:',
  '#!::m=publish',
  '#!::',
  'a b',
  'k\u0000',
  'é',
  'a%20b',
  'k'.repeat(129),
])('[M-16] the stream id %p contains no valid key', (streamId) => {
  expect(readStreamIdRequest(streamId)).toBe('unclear');
});

test('[M-16] no stream id makes the parser throw', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      for (const streamId of [text, `#!::${text}`, `publish:${text}`]) {
        const request = readStreamIdRequest(streamId);
        if (typeof request === 'object') expect(request.key).toMatch(/^[!-~]{1,128}$/);
      }
    }),
  );
});
