import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { expectNoDefects } from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import { rawExchange } from '../support/conformance/raw-http.ts';
import { RawClient } from '../support/gateway/relay-fixture.ts';
import { type Harness, startService, type TestViewer } from '../support/harness/harness.ts';
import { until } from '../support/until.ts';

// Limits of one connection and responses to unusual clients, through the gateway and the whole service.

let service: Harness;
let viewer: TestViewer;
const clients: RawClient[] = [];

beforeAll(async () => {
  service = await startService({ config: { rates: HIGH_RATES } });
  viewer = await service.viewer(await service.createStream());
  await service.advance(1);
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
afterAll(async () => {
  expectNoDefects(service);
  await service.close();
});

function client(): RawClient {
  const made = new RawClient(Number(new URL(service.url).port));
  clients.push(made);
  return made;
}

const HOST = 'Host: fourbeat.example\r\n';
const bearer = () => `Authorization: Bearer ${viewer.token}\r\n`;
const TIME = `GET /api/v1/time HTTP/1.1\r\n${HOST}\r\n`;
const heartbeat = (headers = '') =>
  `POST /api/v1/view-counts/${viewer.streamId} HTTP/1.1\r\n${HOST}${bearer()}${headers}\r\n`;
/** @param ahead 0: the interval that ends next, so the read is a long poll; -1: a sealed interval */
const read = (ahead: number, headers = '') =>
  `GET /api/v1/events-streams/${viewer.streamId}?interval=${service.interval() + ahead} HTTP/1.1\r\n${HOST}${bearer()}${headers}\r\n`;
const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

/** Far more than all socket buffers take. */
const MUCH_BYTES = 20_000_000;

describe('data behind a pending request', () => {
  test('[G-31] is discarded above 16 KB, and the connection ends with the response', async () => {
    const one = client();
    one.send(heartbeat());
    await one.receives('204');
    const longPolls = service.service.stats.feed().longPolls;
    one.send(read(0));
    await until(
      'the long poll waits',
      () => service.service.stats.feed().longPolls === longPolls + 1,
    );
    one.send(Buffer.alloc(MUCH_BYTES, heartbeat()));
    await Bun.sleep(100);
    expect(one.unsentBytes).toBeGreaterThan(0);
    await service.advance(1);
    await one.waitForClose();
    expect(statusesOf(one.text)).toEqual([204, 200]);
  });

  test('[G-31] is handled after the response, when it is below 16 KB', async () => {
    const one = client();
    const longPolls = service.service.stats.feed().longPolls;
    one.send(read(0) + heartbeat().repeat(10));
    await until(
      'the long poll waits',
      () => service.service.stats.feed().longPolls === longPolls + 1,
    );
    one.send(heartbeat().repeat(10));
    await service.advance(1);
    await one.waitFor(() => statusesOf(one.text).length === 21, 'all responses');
    expect(statusesOf(one.text)).toEqual([200, ...Array(20).fill(204)]);
  });

  test('[G-31] does not interrupt an event stream', async () => {
    const one = client();
    one.send(read(0, 'Accept: text/event-stream\r\n'));
    await one.receives(': fourbeat');
    one.send(Buffer.alloc(MUCH_BYTES, heartbeat()));
    await Bun.sleep(100);
    expect(one.unsentBytes).toBeGreaterThan(0);
    const interval = service.interval();
    await service.advance(1);
    await one.receives(`id: ${interval}\n`);
    expect(statusesOf(one.text)).toEqual([200]);
  });
});

describe('an empty line before a request', () => {
  test('[G-31] is ignored by the gateway and the origin server', async () => {
    const sent = ['', TIME, heartbeat(), TIME, read(-1), heartbeat()].join('\r\n');
    const unsplit = await rawExchange(service.url, [sent]);
    expect(statusesOf(unsplit.text)).toEqual([200, 204, 200, 200, 204]);
    const parts = sent.split(/(?=\r)|(?<=\n)/).flatMap((part) => [part, 1]);
    const { text } = await rawExchange(service.url, parts);
    expect(statusesOf(text)).toEqual([200, 204, 200, 200, 204]);
  });

  test.each([
    ['two empty lines', '\r\n\r\n'],
    ['a bare LF', '\n'],
    ['a line of spaces', ' \r\n'],
    ['a bare CR', '\r'],
  ])('[G-31] is the only exception: %s gets a 400', async (_, before) => {
    for (const request of [heartbeat(), TIME]) {
      const { text, closed } = await rawExchange(service.url, [before + request]);
      expect([statusesOf(text), closed]).toEqual([[400], true]);
    }
  });
});

describe('a head', () => {
  const ofLength = (head: string, length: number) =>
    head.replace(HOST, `${HOST}X: ${'x'.repeat(length - head.length - 'X: \r\n'.length)}\r\n`);

  test.each([
    ['of a fast path', heartbeat, 204],
    ['that is relayed', () => TIME, 200],
    [
      'that is relayed on a new origin connection',
      () => TIME.replace(HOST, `${HOST}Expect: x\r\n`),
      200,
    ],
  ])('[G-31] %s may have 16 KB, and gets a 431 with one byte more', async (_, head, status) => {
    const longest = await rawExchange(service.url, [ofLength(head(), 16_384)]);
    expect(statusesOf(longest.text)).toEqual([status]);
    const tooLong = await rawExchange(service.url, [ofLength(head(), 16_385)]);
    expect([statusesOf(tooLong.text), tooLong.closed]).toEqual([[431], true]);
  });
});

test('[T-12] a forged token is verified once for each request, not again by the origin server', async () => {
  const verify = spyOn(crypto.subtle, 'verify');
  const [head, payload] = viewer.token.split('.');
  const one = client();
  for (let n = 1; n <= 10; n++) {
    const forged = `${head}.${payload}.${String(n).padStart(85, 'A')}A`;
    one.send(heartbeat().replace(viewer.token, forged));
    await one.waitFor(() => statusesOf(one.text).length === n, 'the answer');
  }
  expect(statusesOf(one.text)).toEqual(Array(10).fill(401));
  expect(verify).toHaveBeenCalledTimes(10);
  verify.mockRestore();
});
