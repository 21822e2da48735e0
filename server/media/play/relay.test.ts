import { expect, test } from 'bun:test';
import { MatroskaReader } from '../container/matroska.ts';
import { rawCluster, rawHeader } from './raw-matroska.ts';
import { Relay, STALLED_MS } from './relay.ts';
import type { LinkEnd, SourceLink } from './source-link.ts';

const HEADER = rawHeader({ width: 16, height: 16, frameRate: 25, sampleRate: 48_000 });
const frame = (ms: number) =>
  Buffer.concat(rawCluster(ms, new Uint8Array(384).fill(ms), ms, new Uint8Array(16)));

class FakeLink implements SourceLink {
  readonly closed = new Promise<LinkEnd>(() => {});
  readonly sent: Uint8Array[] = [];
  waiting = 0;
  send(bytes: Uint8Array): void {
    this.sent.push(bytes.slice());
  }
  waitingBytes(): number {
    return this.waiting;
  }
  close(): void {}
}

const whole = ({ sent }: FakeLink) => Buffer.concat(sent);

test('[M-9] all bytes reach the link, however they come', () => {
  const bytes = Buffer.concat([HEADER, frame(0), frame(40), frame(80)]);
  for (const length of [1, 7, 100, 5_000]) {
    const relay = new Relay(new MatroskaReader());
    const link = new FakeLink();
    relay.attach(link);
    for (let at = 0; at < bytes.length; at += length) relay.take(bytes.subarray(at, at + length));
    expect(whole(link).equals(bytes)).toBe(true);
    expect(relay.sentBytes).toBe(bytes.length);
  }
});

test('[M-9] the next link begins with the headers and a frame to begin with', () => {
  const relay = new Relay(new MatroskaReader());
  const first = new FakeLink();
  const second = new FakeLink();
  relay.attach(first);
  relay.take(Buffer.concat([HEADER, frame(0)]));
  relay.attach(null);
  relay.take(frame(40));
  const cut = frame(80);
  relay.take(cut.subarray(0, 100));
  relay.attach(second);
  relay.take(cut.subarray(100));
  relay.take(frame(120));
  expect(whole(first).equals(Buffer.concat([HEADER, frame(0)]))).toBe(true);
  expect(whole(second).equals(Buffer.concat([HEADER, cut, frame(120)]))).toBe(true);
});

test('[M-9] a link that takes nothing holds the encoder back, and is dead after a while', async () => {
  const relay = new Relay(new MatroskaReader());
  const link = new FakeLink();
  relay.attach(link);
  let sleptMs = 0;
  const sleep = async (ms: number) => {
    sleptMs += ms;
    if (sleptMs === 500) link.waiting = 0;
  };
  expect(await relay.room(sleep)).toBe(true);
  expect(sleptMs).toBe(0);
  link.waiting = 100 << 20;
  expect(await relay.room(sleep)).toBe(true);
  expect(sleptMs).toBe(500);
  link.waiting = 100 << 20;
  expect(await relay.room(sleep)).toBe(false);
  expect(sleptMs).toBe(500 + STALLED_MS);
  relay.attach(null);
  expect(await relay.room(sleep)).toBe(true);
});
