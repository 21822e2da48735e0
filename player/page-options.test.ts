import { expect, test } from 'bun:test';
import { parsePageOptions } from './page-options.ts';

const PAGE = 'https://live.example/watch/7d2c';

test('a page that is not embedded has the chat and exchanges no messages', () => {
  const options = {
    streamId: '7d2c',
    isEmbedded: false,
    hasChat: true,
    isMuted: false,
    hasStats: false,
    hostOrigin: null,
  };
  expect(parsePageOptions(PAGE)).toEqual(options);
  expect(parsePageOptions(`${PAGE}/`)).toEqual(options);
});

test('a path that is not valid percent-encoding names a show that does not exist', () => {
  expect(parsePageOptions('https://live.example/watch/%E0%A4%A').streamId).toBe('%E0%A4%A');
  expect(parsePageOptions('https://live.example/watch/50%').streamId).toBe('50%');
});

test('an embedded page has the chat only with ?chat; ?muted and ?facts work without ?embed', () => {
  expect(parsePageOptions(`${PAGE}?embed`)).toMatchObject({ isEmbedded: true, hasChat: false });
  expect(parsePageOptions(`${PAGE}?embed&chat`)).toMatchObject({ isEmbedded: true, hasChat: true });
  expect(parsePageOptions(`${PAGE}?muted&facts`)).toMatchObject({ isMuted: true, hasStats: true });
});

test.each([
  ['https://shop.example', 'https://shop.example'],
  ['https://SHOP.example:443/', 'https://shop.example'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['*', null],
  ['null', null],
  ['', null],
  ['shop.example', null],
  ['javascript:alert(1)', null],
])('?origin=%s lets the host page %p exchange messages', (text, hostOrigin) => {
  const href = `${PAGE}?embed&origin=${encodeURIComponent(text)}`;
  expect(parsePageOptions(href).hostOrigin).toBe(hostOrigin);
});
