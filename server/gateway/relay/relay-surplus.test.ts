import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  type FakeOrigin,
  RawClient,
  type RelayFixture,
  startFakeOrigin,
  startRelay,
} from '../../../test/support/gateway/relay-fixture.ts';
import { until } from '../../../test/support/until.ts';

// Bytes behind a relayed request wait in memory for its response, up to a limit (SPEC G-31).

const GET = 'GET /a HTTP/1.1\r\nHost: h\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const UPGRADE = 'GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';

let fixture: RelayFixture;
let origin: FakeOrigin;
let client: RawClient;
/** The response of the origin server; null: it does not respond yet. */
let answer: string | null;

beforeEach(async () => {
  fixture = startRelay();
  answer = null;
  origin = await startFakeOrigin(fixture.path, ({ socket }, bytes) => {
    if (answer !== null && bytes.includes('GET /a')) socket.write(answer);
  });
  client = new RawClient(fixture.port);
});
afterEach(() => {
  client.close();
  origin.close();
  fixture.close();
});

const received = () => origin.connections[0]?.text ?? '';
const waitForRequest = () => until('the request came', () => received().includes('GET /a'));

function respondNow(text: string): void {
  answer = text;
  origin.connections[0]?.socket.write(text);
}

describe('behind a pending request', () => {
  const FITTING = Math.floor((16 * 1024) / GET.length);

  test('[G-31] 16 KB of further requests get their responses in order', async () => {
    client.send(GET.repeat(1 + FITTING));
    await waitForRequest();
    respondNow(OK);
    await client.waitFor(() => client.text === OK.repeat(1 + FITTING), 'all answers');
    expect(client.isClosed).toBe(false);
  });

  test.each([
    ['in one part', 0],
    ['in two parts', 9_000],
  ])('[G-31] more than 16 KB %s end the connection after the response', async (_, cut) => {
    const sent = GET.repeat(2 + FITTING);
    client.send(sent.slice(0, cut));
    if (cut > 0) await waitForRequest();
    client.send(sent.slice(cut));
    await waitForRequest();
    await Bun.sleep(20);
    respondNow(OK);
    await client.waitForClose();
    expect(client.text).toBe(OK);
    expect(received().split('GET /a')).toHaveLength(2);
  });

  test('[G-31] 16 KB of another protocol are forwarded after an upgrade', async () => {
    const early = 'e'.repeat(16 * 1024);
    client.send(UPGRADE + early);
    await waitForRequest();
    respondNow(SWITCHED);
    await until('the bytes arrive', () => received().endsWith(early));
  });

  test('[G-31] more than 16 KB of another protocol prevent an upgrade', async () => {
    client.send(`${UPGRADE}${'e'.repeat(16 * 1024)}e`);
    await waitForRequest();
    respondNow(SWITCHED);
    await client.waitForClose();
    expect(received()).not.toContain('eeee');
  });

  test('[G-31] the rest of a body and a large next request arrive together after an early response', async () => {
    const post = (body: string) =>
      `POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n`;
    const [rejected, next] = ['r'.repeat(10), 'n'.repeat(20_000)];
    client.send(post(rejected));
    await until('the request arrives', () => received().includes('POST /a'));
    respondNow(OK);
    await client.waitFor(() => client.text === OK, 'the early answer');
    client.send(rejected + post(next) + next);
    await until('the next request arrives', () => received().endsWith(next));
    expect(client.isClosed).toBe(false);
  });
});
