import { expect, test } from 'bun:test';
import { MatroskaReader } from '../container/matroska.ts';
import { rawCluster, rawHeader } from './raw-matroska.ts';
import { Relay, STALL_TIMEOUT_MS } from './relay.ts';
import type { ConnectionClose, SourceConnection } from './source-connection.ts';

const HEADER = rawHeader(16, 16, 25);
const frame = (ms: number) =>
  Buffer.concat(rawCluster(ms, new Uint8Array(384).fill(ms), ms, new Uint8Array(16)));

class FakeConnection implements SourceConnection {
  readonly closed = new Promise<ConnectionClose>(() => {});
  readonly sent: Uint8Array[] = [];
  buffered = 0;
  send(bytes: Uint8Array): void {
    this.sent.push(bytes.slice());
  }
  bufferedBytes(): number {
    return this.buffered;
  }
  close(): void {}
}

const bytesOf = ({ sent }: FakeConnection) => Buffer.concat(sent);

test('[M-9] all bytes reach the connection, in chunks of any size', () => {
  const bytes = Buffer.concat([HEADER, frame(0), frame(40), frame(80)]);
  for (const length of [1, 7, 100, 5_000]) {
    const relay = new Relay(new MatroskaReader());
    const connection = new FakeConnection();
    relay.attach(connection);
    for (let at = 0; at < bytes.length; at += length) relay.push(bytes.subarray(at, at + length));
    expect(bytesOf(connection).equals(bytes)).toBe(true);
    expect(relay.sentBytes).toBe(bytes.length);
  }
});

test('[M-9] the next connection starts with the headers and a key frame', () => {
  const relay = new Relay(new MatroskaReader());
  const first = new FakeConnection();
  const second = new FakeConnection();
  relay.attach(first);
  relay.push(Buffer.concat([HEADER, frame(0)]));
  relay.attach(null);
  relay.push(frame(40));
  const cut = frame(80);
  relay.push(cut.subarray(0, 100));
  relay.attach(second);
  relay.push(cut.subarray(100));
  relay.push(frame(120));
  expect(bytesOf(first).equals(Buffer.concat([HEADER, frame(0)]))).toBe(true);
  expect(bytesOf(second).equals(Buffer.concat([HEADER, cut, frame(120)]))).toBe(true);
});

test('[M-9] a stalled connection slows the encoder down and counts as dead after 15 s', async () => {
  const relay = new Relay(new MatroskaReader());
  const connection = new FakeConnection();
  relay.attach(connection);
  let sleptMs = 0;
  const sleep = async (ms: number) => {
    sleptMs += ms;
    if (sleptMs === 500) connection.buffered = 0;
  };
  expect(await relay.waitForRoom(sleep)).toBe(true);
  expect(sleptMs).toBe(0);
  connection.buffered = 100 << 20;
  expect(await relay.waitForRoom(sleep)).toBe(true);
  expect(sleptMs).toBe(500);
  connection.buffered = 100 << 20;
  expect(await relay.waitForRoom(sleep)).toBe(false);
  expect(sleptMs).toBe(500 + STALL_TIMEOUT_MS);
  relay.attach(null);
  expect(await relay.waitForRoom(sleep)).toBe(true);
});
