import { heapStats } from 'bun:jsc';
import { beforeEach, describe, expect, test } from 'bun:test';
import {
  GET,
  OK,
  type RawClient,
  relayForEachTest,
  silentClient,
} from '../../../test/support/gateway/relay-fixture.ts';
import { until } from '../../../test/support/until.ts';

// Bytes that a client sends after a relayed request wait in memory until the response, up to 16 KB.

const UPGRADE = 'GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';

const {
  client: connectClient,
  connections,
  fixture,
  originConnection,
  startOrigin,
} = relayForEachTest();
let client: RawClient;
/** The response of the origin server; null: it does not respond yet. */
let answer: string | null;

beforeEach(async () => {
  answer = null;
  await startOrigin(({ socket }, bytes) => {
    if (answer !== null && bytes.includes('GET /a')) socket.write(answer);
  });
  client = connectClient();
});

const received = () => connections()[0]?.text ?? '';
const waitForRequest = () => until('the request arrives', () => received().includes('GET /a'));

/** Responds to the waiting request, and to all later ones at once. */
function respondNow(text: string): void {
  answer = text;
  originConnection(0).socket.write(text);
}

describe('behind a pending request', () => {
  /** How many requests fit into 16 KB. */
  const FITTING_COUNT = Math.floor((16 * 1024) / GET.length);

  test('[G-31] 16 KB of further requests get their responses in order', async () => {
    client.send(GET.repeat(1 + FITTING_COUNT));
    await waitForRequest();
    respondNow(OK);
    await client.waitFor(() => client.text === OK.repeat(1 + FITTING_COUNT), 'all answers');
    expect(client.isClosed).toBe(false);
  });

  test.each([
    ['in one part', 0],
    ['in two parts', 9_000],
  ])('[G-31] more than 16 KB %s end the connection after the response', async (_, cutAt) => {
    const sent = GET.repeat(2 + FITTING_COUNT);
    client.send(sent.slice(0, cutAt));
    if (cutAt > 0) await waitForRequest();
    client.send(sent.slice(cutAt));
    await waitForRequest();
    await Bun.sleep(20); // The other bytes arrive.
    respondNow(OK);
    await client.waitForClose();
    expect(client.text).toBe(OK);
    expect(received().split('GET /a')).toHaveLength(2);
  });

  test('[G-31] [L-3] bytes that arrive one by one take no more memory than together', () => {
    const relayed = fixture().relay.start(silentClient(), Buffer.from(GET));
    const buffers = () => {
      Bun.gc(true);
      const counts = heapStats().objectTypeCounts;
      return (counts.Uint8Array ?? 0) + (counts.Buffer ?? 0);
    };
    const before = buffers();
    for (let sent = 0; sent < 10_000; sent++) relayed.onData(Buffer.from('G'));
    expect(buffers() - before).toBeLessThan(100);
    relayed.onClose();
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
});
