import { beforeEach, expect, test } from 'bun:test';
import { OK, relayForEachTest } from '../../../test/support/gateway/relay-fixture.ts';
import {
  SMUGGLED,
  UNUSUAL_REQUESTS,
  UNUSUAL_WITH_KNOWN_END,
  UNUSUAL_WITH_UNKNOWN_END,
} from '../../../test/support/gateway/unusual-requests.ts';
import { until } from '../../../test/support/until.ts';

// Request smuggling: an unusual request gets a new origin connection, on which no other request is sent.

const GET = 'GET /next HTTP/1.1\r\nHost: h\r\n\r\n';
const POST = 'POST /odd HTTP/1.1\r\nHost: h\r\n';

const { client, connections, originConnection, startOrigin } = relayForEachTest();
// The origin server responds to the first bytes of each connection, and to each `GET`.
beforeEach(() =>
  startOrigin(({ socket, text }, bytes) => {
    if (text.length === bytes.length || bytes.includes('/next')) socket.write(OK);
  }),
);

test.each(UNUSUAL_REQUESTS)(
  'a request with %s has an origin connection of its own, and both connections end after the response',
  async (_, unusual) => {
    const other = client();
    other.send(GET);
    await other.receives('ok');
    const attacker = client();
    attacker.send(unusual);
    await attacker.waitForClose();
    expect(attacker.text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(1);
    expect(attacker.text).toContain('\r\nConnection: close\r\n');
    other.send(GET);
    await other.waitFor(() => other.text === OK + OK, 'the second response');
    const [shared, unshared] = connections(); // of `other` and of `attacker`
    expect(connections()).toHaveLength(2);
    expect(shared?.text.match(/\/next/g)).toHaveLength(2);
    expect(shared?.text).not.toMatch(/odd|hidden/);
    expect(unshared?.text).not.toContain('/next');
    await until('the origin connection of the attacker is closed', () => unshared?.isClosed);
  },
);

test.each(UNUSUAL_WITH_KNOWN_END)(
  'the relay does not forward what follows a request with %s',
  async (_, unusual) => {
    const attacker = client();
    attacker.send(unusual);
    await attacker.waitForClose();
    expect(originConnection(0).text).toContain('odd');
    expect(originConnection(0).text).not.toContain('/hidden');
  },
);

test.each(UNUSUAL_WITH_UNKNOWN_END)(
  'the relay forwards only the head of a request with %s, for the origin server to reject',
  async (_, unusual) => {
    const attacker = client();
    attacker.send(unusual);
    await attacker.waitForClose();
    const forwarded = originConnection(0).text.replace(/X-Fourbeat-Client: .*\r\n/, '');
    expect(forwarded).toBe(unusual.slice(0, unusual.indexOf('\r\n\r\n') + 4));
  },
);

test('the relay forwards a request in the body of another as a body', async () => {
  const attacker = client();
  attacker.send(`${POST}Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`);
  await attacker.receives('ok');
  expect(originConnection(0).text).toEndWith(`\r\n\r\n${SMUGGLED}`);
  expect(attacker.isClosed).toBe(false);
});

test('the relay forwards a request after the body of another as a request of the same client', async () => {
  const attacker = client();
  attacker.send(`${POST}Content-Length: 0\r\n\r\n${GET}`);
  await attacker.waitFor(() => attacker.text === OK + OK, 'two responses');
  expect(
    originConnection(0).text.match(/X-Fourbeat-Client: s3cret 127\.0\.0\.1 +\r\n/g),
  ).toHaveLength(2);
});

test.each(['Host: i', 'host:h', 'HOST: ', 'X: a\x7fb', '\x7f: a', 'X: \x7f\r\nHost: h'])(
  'a request with two hosts or a DEL gets 400, and the origin server gets nothing of it: %s',
  async (line) => {
    const attacker = client();
    attacker.send(`${POST}${line}\r\n\r\n${SMUGGLED}`);
    await attacker.waitForClose();
    expect(attacker.text).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    expect(connections()).toHaveLength(0);
  },
);

test.each([
  ['line above 16 KB', `GET /odd?${'a'.repeat(16 * 1024)}`, '431 Request Header Fields Too Large'],
  ['line that no CRLF ends', 'GET /odd HTTP/1.1\nHost: h\n\n', '400 Bad Request'],
])(
  'a request without the end of its first line gets an error, and the origin server gets nothing of it: %s',
  async (_, begin, status) => {
    const attacker = client();
    attacker.send(begin);
    await attacker.waitForClose();
    expect(attacker.text).toBe(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
    expect(connections()).toHaveLength(0);
  },
);
