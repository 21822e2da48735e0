import { expect, test } from 'bun:test';
import { pageOptionsOf } from './page-options.ts';

const PAGE = 'https://live.example/watch/7d2c';

test('a page of its own has everything, and talks with nobody', () => {
  const options = {
    streamId: '7d2c',
    isEmbedded: false,
    hasChat: true,
    isMuted: false,
    hasFacts: false,
    origin: null,
  };
  expect(pageOptionsOf(PAGE)).toEqual(options);
  expect(pageOptionsOf(`${PAGE}/`)).toEqual(options);
});

test('in somebody else’s page it is the picture, and the chat when it is wanted', () => {
  expect(pageOptionsOf(`${PAGE}?embed`)).toMatchObject({ isEmbedded: true, hasChat: false });
  expect(pageOptionsOf(`${PAGE}?embed&chat`)).toMatchObject({ isEmbedded: true, hasChat: true });
  expect(pageOptionsOf(`${PAGE}?muted&facts`)).toMatchObject({ isMuted: true, hasFacts: true });
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
])('?origin=%s lets %p talk with it', (text, origin) => {
  const href = `${PAGE}?embed&origin=${encodeURIComponent(text)}`;
  expect(pageOptionsOf(href).origin).toBe(origin);
});
