import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  type PlayedServer,
  playInner,
  RawClient,
  type RelayFixture,
  startRelay,
} from '../../../test/support/gateway/relay-fixture.ts';
import { until } from '../../../test/support/until.ts';

// What comes behind a request that is passed on waits for the answer to it, in memory: so it is bounded.

const GET = 'GET /a HTTP/1.1\r\nHost: h\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const UPGRADE = 'GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';

let fixture: RelayFixture;
let inner: PlayedServer;
let client: RawClient;
/** What the origin server says to a request; until then it says nothing. */
let answer: string | null;

beforeEach(async () => {
  fixture = startRelay();
  answer = null;
  inner = await playInner(fixture.path, ({ socket }, bytes) => {
    if (answer !== null && bytes.includes('GET /a')) socket.write(answer);
  });
  client = new RawClient(fixture.port);
});
afterEach(() => {
  client.close();
  inner.close();
  fixture.close();
});

const heard = () => inner.connections[0]?.text ?? '';
const isHeard = () => until('the request came', () => heard().includes('GET /a'));

function answerAtLast(text: string): void {
  answer = text;
  inner.connections[0]?.socket.write(text);
}

describe('[G-31] behind a request that waits', () => {
  const FITTING = Math.floor((16 * 1024) / GET.length);

  test('16 KB of further ones are answered in their order', async () => {
    client.send(GET.repeat(1 + FITTING));
    await isHeard();
    answerAtLast(OK);
    await client.when(() => client.text === OK.repeat(1 + FITTING), 'all answers');
    expect(client.isClosed).toBe(false);
  });

  test.each([
    ['at once', 0],
    ['in two parts', 9_000],
  ])(
    'more than that are not kept, when they come %s: the connection ends with the answer',
    async (_, cut) => {
      const sent = GET.repeat(2 + FITTING);
      client.send(sent.slice(0, cut));
      if (cut > 0) await isHeard();
      client.send(sent.slice(cut));
      await isHeard();
      await Bun.sleep(20);
      answerAtLast(OK);
      await client.ends();
      expect(client.text).toBe(OK);
      expect(heard().split('GET /a')).toHaveLength(2);
    },
  );

  test('16 KB of another protocol are passed on after the switch', async () => {
    const early = 'e'.repeat(16 * 1024);
    client.send(UPGRADE + early);
    await isHeard();
    answerAtLast(SWITCHED);
    await until('they came', () => heard().endsWith(early));
  });

  test('with more of it there is no switch', async () => {
    client.send(`${UPGRADE}${'e'.repeat(16 * 1024)}e`);
    await isHeard();
    answerAtLast(SWITCHED);
    await client.ends();
    expect(heard()).not.toContain('eeee');
  });

  test('who was answered before the end of a body may send the next request in one go with it', async () => {
    const post = (body: string) =>
      `POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n`;
    const [refused, next] = ['r'.repeat(10), 'n'.repeat(20_000)];
    client.send(post(refused));
    await until('the request came', () => heard().includes('POST /a'));
    answerAtLast(OK);
    await client.when(() => client.text === OK, 'the early answer');
    client.send(refused + post(next) + next);
    await until('the next one came', () => heard().endsWith(next));
    expect(client.isClosed).toBe(false);
  });
});
