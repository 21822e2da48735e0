import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { readFirstMessage, UnsupportedMessage } from './first-message.ts';

const message = (type: string) => JSON.stringify({ key: 'sk_1', type });

test.each([
  ['video/webm;codecs=h264,opus', 'matroska'],
  ['video/webm', 'matroska'],
  ['VIDEO/WebM ; codecs="vp8, opus"', 'matroska'],
  ['video/x-matroska;codecs=avc1,opus', 'matroska'],
  ['video/matroska', 'matroska'],
  ['video/mp2t', 'mpegts'],
  ['video/x-flv', 'flv'],
] as const)('[M-4] the media type %s is accepted', (type, container) => {
  expect(readFirstMessage(message(type))).toEqual({ key: 'sk_1', container, kind: 'websocket' });
});

test.each([
  ['media-play', 'media-play'],
  ['another-program', 'websocket'],
  ['rtmp', 'websocket'],
  [7, 'websocket'],
  [undefined, 'websocket'],
] as const)('[M-4] a source whose sender is %p has the kind %s', (sender, kind) => {
  const first = JSON.stringify({ key: 'sk_1', type: 'video/webm', sender });
  expect(readFirstMessage(first).kind).toBe(kind);
});

test.each(['video/mp4;codecs=avc1', 'audio/webm', 'text/html', '__proto__', 'toString', ';', ' '])(
  '[M-4] the media type %p is rejected with a list of supported containers',
  (type) => {
    expect(() => readFirstMessage(message(type))).toThrow(/send WebM, Matroska, MPEG-TS or FLV/);
  },
);

test.each([
  ['text that is not JSON', 'sk_1'],
  ['JSON that is not an object', '"sk_1"'],
  ['null', 'null'],
  ['no key', '{"type":"video/webm"}'],
  ['an empty key', '{"key":"","type":"video/webm"}'],
  ['a key that is not a string', '{"key":{"length":5},"type":"video/webm"}'],
  ['an overlong key', JSON.stringify({ key: 'k'.repeat(129), type: 'video/webm' })],
  ['an overlong message', JSON.stringify({ key: 'k', type: 'video/webm', x: 'x'.repeat(5_000) })],
  ['bytes', new TextEncoder().encode(message('video/webm'))],
] as const)('[M-16] a first message is rejected with the expected format: %s', (_, first) => {
  expect(() => readFirstMessage(first)).toThrow(/The first message must be JSON text/);
});

test('[M-16] any other text throws UnsupportedMessage', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      try {
        readFirstMessage(text);
      } catch (error) {
        expect(error).toBeInstanceOf(UnsupportedMessage);
      }
    }),
  );
});
