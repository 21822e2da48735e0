import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { RawClient } from '../../test/support/gateway/relay-fixture.ts';
import { until } from '../../test/support/until.ts';
import { Gateway } from './gateway.ts';
import type { RelayClient } from './relay/relayed-request.ts';

// A front that answers nothing itself.

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

let front: Gateway;
let client: RawClient;
let relayed: { readonly text: string; readonly client: RelayClient }[];

beforeEach(() => {
  relayed = [];
  front = new Gateway({
    host: '127.0.0.1',
    port: 0,
    backend: null,
    relay: {
      start: (client, bytes) => {
        relayed.push({ text: Buffer.from(bytes).toString('latin1'), client });
        return { onData: () => {}, onDrain: () => {}, onClose: () => {} };
      },
    },
    corsOrigin: '*',
    edgeCache: false,
    onDefect: (error) => {
      throw error;
    },
  });
  client = new RawClient(front.port);
});
afterEach(() => {
  client.close();
  front.stop();
});

describe('a request', () => {
  test('is passed on when its head is whole, however it comes', async () => {
    for (const part of GET) {
      expect(relayed).toEqual([]);
      client.send(part);
      await Bun.sleep(1);
    }
    await until('it is passed on', () => relayed.length > 0);
    expect(relayed[0]?.text).toBe(GET);
    relayed[0]?.client.send(Buffer.from(OK));
    relayed[0]?.client.completed(Buffer.alloc(0));
    client.send(GET);
    await until('the next one is', () => relayed.length === 2);
    expect(client.text).toBe(OK);
  });

  test.each([
    ['that is none', '\x16\x03\x01'],
    ['whose lines end otherwise', 'GET / HTTP/1.1\nHo'],
    ['whose head has no end in 16 KB', `GET /${'x'.repeat(16 * 1024)}`],
  ])('%s is passed on at once', async (_, sent) => {
    client.send(sent);
    await until('it is passed on', () => relayed.length > 0);
  });
});

test('[O-11] a front that closes cuts a client that does not take its answer, after 3 s', async () => {
  client.send(GET);
  await until('it is passed on', () => relayed.length > 0);
  client.pause();
  relayed[0]?.client.send(Buffer.alloc(50_000_000));
  relayed[0]?.client.end();
  front.drain();
  const closedMs = performance.now();
  expect(front.pendingResponses()).toBe(1);
  await until('it is cut', () => front.pendingResponses() === 0);
  expect(performance.now() - closedMs).toBeWithin(2_900, 4_500);
});
