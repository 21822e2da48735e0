import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { OK, RawClient } from '../../test/support/gateway/relay-fixture.ts';
import { until } from '../../test/support/until.ts';
import { createOpenFiles, type OpenFiles } from '../platform/open-files.ts';
import { Gateway } from './gateway.ts';
import type { RelayClient } from './relay/relay.ts';

// A gateway without a backend, which relays all requests.

/** A quarter is reserved, and clients get nine tenths of the rest. */
const OPEN_FILES = 60;
const CLIENTS_MAX = 40;
const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

let gateway: Gateway;
let openFiles: OpenFiles;
let client: RawClient;
let relayed: { readonly text: string; readonly client: RelayClient }[];

const createGateway = (threads = 1) =>
  new Gateway({
    host: '127.0.0.1',
    port: 0,
    backend: null,
    relay: {
      start: (client, bytes) => {
        relayed.push({ text: Buffer.from(bytes).toString('latin1'), client });
        return { onData: () => {}, onDrain: () => {}, onClose: () => {}, restBytes: 0 };
      },
    },
    openFiles,
    threads,
    corsOrigin: '*',
    edgeCache: false,
    onDefect: (error) => {
      throw error;
    },
  });

beforeEach(() => {
  relayed = [];
  openFiles = createOpenFiles(OPEN_FILES);
  gateway = createGateway();
  client = new RawClient(gateway.port);
});
afterEach(() => {
  client.close();
  gateway.stop();
});

describe('a gateway without a backend', () => {
  test('relays a request once its head is complete, when each byte arrives separately', async () => {
    for (const byte of GET) {
      expect(relayed).toEqual([]);
      client.send(byte);
      await Bun.sleep(1);
    }
    await until('the request is relayed', () => relayed.length > 0);
    expect(relayed[0]?.text).toBe(GET);
    relayed[0]?.client.send(Buffer.from(OK));
    relayed[0]?.client.completed(Buffer.alloc(0));
    client.send(GET);
    await until('the next request is relayed', () => relayed.length === 2);
    expect(client.text).toBe(OK);
  });

  test.each([
    ['bytes that are not HTTP', '\x16\x03\x01'],
    ['a head whose lines end with LF', 'GET / HTTP/1.1\nHo'],
    ['a head longer than 16 KB', `GET /${'x'.repeat(16 * 1024)}`],
  ])('relays %s without waiting for more bytes', async (_, sent) => {
    client.send(sent);
    await until('the request is relayed', () => relayed.length > 0);
  });
});

test('[O-11] a gateway that drains waits 3 s for a client that does not read its response', async () => {
  client.send(GET);
  await until('the request is relayed', () => relayed.length > 0);
  client.pause();
  relayed[0]?.client.send(Buffer.alloc(50_000_000));
  relayed[0]?.client.end();
  gateway.drain();
  const drainStartMs = performance.now();
  expect(gateway.pendingResponses()).toBe(1);
  await until('the client is disconnected', () => gateway.pendingResponses() === 0);
  expect(performance.now() - drainStartMs).toBeWithin(2_900, 4_500);
});

test('[G-31] connections beyond the limit of open files are closed at once, until others end', async () => {
  const clients = Array.from({ length: CLIENTS_MAX + 1 }, () => new RawClient(gateway.port));
  await until('two connections are refused', () => openFiles.refused() === 2);
  expect(openFiles.open()).toBe(CLIENTS_MAX);
  await until('both are closed', () => clients.filter(({ isClosed }) => isClosed).length === 2);
  for (const each of clients) each.close();
  client.close();
  await until('all files are free', () => openFiles.open() === 0);
  const another = new RawClient(gateway.port);
  another.send(GET);
  await until('its request is relayed', () => relayed.length === 1);
  another.close();
});

test.each([
  [1, false],
  [16, true],
])(
  '[L-3] with %d threads a gateway has its share of 512 MB of unread responses',
  async (threads, isClosed) => {
    const shared = createGateway(threads);
    const reader = new RawClient(shared.port);
    reader.pause();
    reader.send(GET);
    await until('the request is relayed', () => relayed.length > 0);
    relayed[0]?.client.send(Buffer.from(new ArrayBuffer(64 << 20)));
    expect(shared.pendingResponses()).toBe(isClosed ? 0 : 1);
    reader.close();
    shared.stop();
  },
);
