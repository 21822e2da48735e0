import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { CONCLUSION, INDUCTION } from '../../../test/support/media/srt-handshakes.ts';
import {
  createRejection,
  createShutdown,
  hasStreamIds,
  inductionOf,
  inductionResponse,
  readHandshake,
  readRejection,
  readStreamId,
  withCookie,
} from './srt-handshake.ts';

test('[M-3] an induction is read and gets the response of the draft', () => {
  expect(readHandshake(INDUCTION)).toEqual({
    type: 'induction',
    version: 4,
    socketId: 0x0b221446,
    cookie: 0,
    isEncrypted: false,
  });
  const response = inductionResponse(INDUCTION, 0x01020304);
  expect(response.toString('hex')).toBe(
    '8000000000000000000000950b2214460000000500004a175175cb12000005dc00002000000000010b221446' +
      '010203040100007f000000000000000000000000',
  );
});

test('[M-3] a conclusion is read with its stream id', () => {
  const handshake = readHandshake(CONCLUSION);
  expect(handshake).toMatchObject({ type: 'conclusion', version: 5, cookie: 0xdeadbeef });
  expect(handshake && hasStreamIds(handshake)).toBe(true);
  expect(readStreamId(CONCLUSION)).toBe('publish:sk_0123456789ab');
});

test('[M-3] withCookie changes nothing but the cookie', () => {
  const changed = withCookie(CONCLUSION, 0x01020304);
  expect(readHandshake(changed)?.cookie).toBe(0x01020304);
  expect(withCookie(changed, 0xdeadbeef)).toEqual(CONCLUSION);
});

test('[M-3] the induction derived from a conclusion equals the one that its caller sent', () => {
  const induction = inductionOf(CONCLUSION);
  // Except for the timestamp.
  INDUCTION.copy(induction, 8, 8, 12);
  expect(induction).toEqual(INDUCTION);
});

test('[M-5] a rejection carries its code', () => {
  const refusal = createRejection(CONCLUSION, 1401);
  expect(refusal).toHaveLength(64);
  expect(refusal.readUInt32BE(12)).toBe(0x0b221446);
  expect(readRejection(refusal)).toBe(1401);
  expect(readRejection(CONCLUSION)).toBe(0);
  expect(readRejection(INDUCTION)).toBe(0);
});

test('[M-3] a shutdown packet is addressed to the caller', () => {
  expect(createShutdown(0x0b221446).toString('hex')).toBe(
    '8005000000000000000000000b22144600000000',
  );
});

test('[M-16] no datagram makes the reader throw', () => {
  const anyBytes = fc.uint8Array({ maxLength: 1_500 });
  const ending = anyBytes.map((end) => Buffer.concat([CONCLUSION.subarray(0, 64), end]));
  fc.assert(
    fc.property(fc.oneof(anyBytes, ending), (bytes) => {
      const datagram = Buffer.from(bytes);
      const isHandshake = bytes.length >= 64 && datagram.readUInt32BE(0) === 0x80000000;
      expect(readHandshake(datagram) !== null).toBe(isHandshake);
      readRejection(datagram);
      expect(readStreamId(datagram).length).toBeLessThanOrEqual(512);
    }),
  );
});

test('[M-16] a stream id that exceeds the datagram is ignored', () => {
  const cut = CONCLUSION.subarray(0, CONCLUSION.length - 4);
  expect(readStreamId(cut)).toBe('');
});
