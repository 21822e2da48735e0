import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { HANDSHAKE_BYTES, Handshake } from './handshake.ts';

const random = () => new Uint8Array(HANDSHAKE_BYTES).fill(7);
const c1 = Uint8Array.from({ length: HANDSHAKE_BYTES }, (_, index) => index % 251);
const c2 = new Uint8Array(HANDSHAKE_BYTES);

test('the handshake echoes C1, in reads of any size, and keeps the bytes after it', () => {
  const sent = Buffer.concat([Uint8Array.of(3), c1, c2, Buffer.from('more')]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: sent.length }), (cut) => {
      const handshake = new Handshake(random);
      const steps = [handshake.push(sent.subarray(0, cut))];
      if (steps[0]?.rest === null) steps.push(handshake.push(sent.subarray(cut)));
      const replies = steps.flatMap(({ reply }) => (reply === null ? [] : [reply]));
      expect(replies.length).toBe(1);
      const reply = Buffer.concat(replies);
      expect([...reply.subarray(0, 10)]).toEqual([3, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
      expect(reply.subarray(1 + HANDSHAKE_BYTES).equals(c1)).toBe(true);
      const rest = Buffer.from(steps.at(-1)?.rest ?? []);
      expect('more'.startsWith(rest.toString())).toBe(true);
    }),
  );
});

describe('[M-16] other protocols', () => {
  test.each(['GET / HTTP/1.1', '\x06', '\x16\x03\x01'])(
    'other protocols are rejected at the first byte: %j',
    (text) => {
      const handshake = new Handshake(random);
      expect(() => handshake.push(Buffer.from(text))).toThrow('not plain RTMP');
    },
  );
});
