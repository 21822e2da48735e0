import { expect, test } from 'bun:test';
import { TunnelStart } from './tunnel-start.ts';

const PING = [0x89, 0];
const CLOSE = [0x88, 2, 3, 232];
const TEXT = [0x81, 2, 0x6f, 0x6b];

test('[M-4] a client that the server has not answered may send 16 KB', () => {
  const start = new TunnelStart();
  expect([start.allows(200), start.allows(16_184), start.allows(1)]).toEqual([true, true, false]);
});

test('[M-4] a message of the server lifts the limit, a ping does not', () => {
  const pinged = new TunnelStart();
  pinged.onServerFrames(Uint8Array.from([...PING, ...CLOSE]));
  expect(pinged.allows(17_000)).toBe(false);
  const answered = new TunnelStart();
  answered.onServerFrames(Uint8Array.from([...PING, ...TEXT]));
  expect(answered.allows(8 << 20)).toBe(true);
});
