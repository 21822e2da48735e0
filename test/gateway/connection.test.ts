import { afterAll, afterEach, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { expectNoDefects } from '../support/conformance/expectations.ts';
import { PLENTY_OF_ALL } from '../support/conformance/operations.ts';
import { rawExchange } from '../support/conformance/raw-http.ts';
import { RawClient } from '../support/gateway/relay-fixture.ts';
import { type Harness, startService, type TestViewer } from '../support/harness/harness.ts';
import { until } from '../support/until.ts';

// What one connection may cost, and what odd clients are told, through the front and the whole service.

let service: Harness;
let viewer: TestViewer;
const clients: RawClient[] = [];

beforeAll(async () => {
  service = await startService({ config: { rates: PLENTY_OF_ALL } });
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
const read = (ahead: number, headers = '') =>
  `GET /api/v1/events-streams/${viewer.streamId}?interval=${service.interval() + ahead} HTTP/1.1\r\n${HOST}${bearer()}${headers}\r\n`;
const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

const MUCH = 20_000_000;

describe('[G-31] what comes behind a request that waits', () => {
  test('is not kept when it is more than 16 KB: the connection ends with the answer', async () => {
    const one = client();
    one.send(heartbeat());
    await one.hears('204');
    const held = service.service.stats.feed().longPolls;
    one.send(read(0));
    await until('it is held', () => service.service.stats.feed().longPolls === held + 1);
    one.send(Buffer.alloc(MUCH, heartbeat()));
    await Bun.sleep(100);
    expect(one.unsentBytes).toBeGreaterThan(0);
    await service.advance(1);
    await one.ends();
    expect(statusesOf(one.text)).toEqual([204, 200]);
  });

  test('is answered in its order when it is less, however it comes', async () => {
    const one = client();
    const held = service.service.stats.feed().longPolls;
    one.send(read(0) + heartbeat().repeat(10));
    await until('it is held', () => service.service.stats.feed().longPolls === held + 1);
    one.send(heartbeat().repeat(10));
    await service.advance(1);
    await one.when(() => statusesOf(one.text).length === 21, 'all answers');
    expect(statusesOf(one.text)).toEqual([200, ...Array(20).fill(204)]);
  });

  test('keeps no event stream from going on', async () => {
    const one = client();
    one.send(read(0, 'Accept: text/event-stream\r\n'));
    await one.hears(': fourbeat');
    one.send(Buffer.alloc(MUCH, heartbeat()));
    await Bun.sleep(100);
    expect(one.unsentBytes).toBeGreaterThan(0);
    const interval = service.interval();
    await service.advance(1);
    await one.hears(`id: ${interval}\n`);
    expect(statusesOf(one.text)).toEqual([200]);
  });
});

describe('[G-31] an empty line before a request', () => {
  test('means nothing, whoever answers', async () => {
    const sent = ['', TIME, heartbeat(), TIME, read(-1), heartbeat()].join('\r\n');
    const whole = await rawExchange(service.url, [sent]);
    expect(statusesOf(whole.text)).toEqual([200, 204, 200, 200, 204]);
    const parts = sent.split(/(?=\r)|(?<=\n)/).flatMap((part) => [part, 1]);
    const { text } = await rawExchange(service.url, parts);
    expect(statusesOf(text)).toEqual([200, 204, 200, 200, 204]);
  });

  test.each([
    ['a second one', '\r\n\r\n'],
    ['one that ends otherwise', '\n'],
    ['one of spaces', ' \r\n'],
    ['half of one', '\r'],
  ])('is one: %s is 400', async (_, before) => {
    for (const request of [heartbeat(), TIME]) {
      const { text, closed } = await rawExchange(service.url, [before + request]);
      expect([statusesOf(text), closed]).toEqual([[400], true]);
    }
  });
});

describe('[G-31] a head', () => {
  const ofLength = (head: string, length: number) =>
    head.replace(HOST, `${HOST}X: ${'x'.repeat(length - head.length - 'X: \r\n'.length)}\r\n`);

  test.each([
    ['that is answered here', heartbeat, 204],
    ['that is passed on', () => TIME, 200],
    [
      'of which no two servers need say alike where it ends',
      () => TIME.replace(HOST, `${HOST}Expect: x\r\n`),
      200,
    ],
  ])('%s may have 16 KB, and is 431 with one byte more', async (_, head, status) => {
    const whole = await rawExchange(service.url, [ofLength(head(), 16_384)]);
    expect(statusesOf(whole.text)).toEqual([status]);
    const longer = await rawExchange(service.url, [ofLength(head(), 16_385)]);
    expect([statusesOf(longer.text), longer.closed]).toEqual([[431], true]);
  });
});

test('[T-12] a forged token is verified once, though whoever says what is wrong looks at it too', async () => {
  const verified = spyOn(crypto.subtle, 'verify');
  const [head, payload] = viewer.token.split('.');
  const one = client();
  for (let n = 1; n <= 10; n++) {
    const forged = `${head}.${payload}.${String(n).padStart(86, 'A')}`;
    one.send(heartbeat().replace(viewer.token, forged));
    await one.when(() => statusesOf(one.text).length === n, 'the answer');
  }
  expect(statusesOf(one.text)).toEqual(Array(10).fill(401));
  expect(verified).toHaveBeenCalledTimes(10);
  verified.mockRestore();
});
