import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  type PlayedServer,
  playInner,
  RawClient,
  type RelayFixture,
  startRelay,
} from '../../../test/support/gateway/relay-fixture.ts';
import {
  HIDDEN,
  ODD,
  ODD_WITH_END,
  ODD_WITHOUT_END,
} from '../../../test/support/gateway/unusual-requests.ts';
import { until } from '../../../test/support/until.ts';

// What a client may hide in a request must reach nobody else's: an odd request has an inner
// connection of its own, over which nothing comes after it.

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const GET = 'GET /next HTTP/1.1\r\nHost: h\r\n\r\n';
const POST = 'POST /odd HTTP/1.1\r\nHost: h\r\n';

let fixture: RelayFixture;
let inner: PlayedServer;
beforeEach(async () => {
  fixture = startRelay();
  inner = await playInner(fixture.path, ({ socket, text }, bytes) => {
    if (text.length === bytes.length || bytes.includes('/next')) socket.write(OK);
  });
});
afterEach(() => {
  inner.close();
  fixture.close();
});

test.each(ODD)(
  '%s has a connection of its own, and both ends end after the answer',
  async (_, odd) => {
    const other = new RawClient(fixture.port);
    other.send(GET);
    await other.hears('ok');
    const attacker = new RawClient(fixture.port);
    attacker.send(odd);
    await attacker.ends();
    expect(attacker.text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(1);
    expect(attacker.text).toContain('\r\nConnection: close\r\n');
    other.send(GET);
    await other.when(() => other.text === OK + OK, 'the answer to it');
    const [shared, own] = inner.connections;
    expect(inner.connections).toHaveLength(2);
    expect(shared?.text.match(/\/next/g)).toHaveLength(2);
    expect(shared?.text).not.toMatch(/odd|hidden/);
    expect(own?.text).not.toContain('/next');
    await until('its inner connection is closed', () => own?.isClosed);
    other.close();
  },
);

test.each(ODD_WITH_END)('what follows %s does not come to the origin server', async (_, odd) => {
  const attacker = new RawClient(fixture.port);
  attacker.send(odd);
  await attacker.ends();
  expect(inner.connections[0]?.text).toContain('odd');
  expect(inner.connections[0]?.text).not.toContain('/hidden');
});

test.each(ODD_WITHOUT_END)(
  '%s comes to the origin server as it is, to be refused',
  async (_, odd) => {
    const attacker = new RawClient(fixture.port);
    attacker.send(odd);
    await attacker.ends();
    const came = inner.connections[0]?.text.replace(/X-Fourbeat-Client: .*\r\n/, '');
    expect(came).toBe(odd);
  },
);

test('a hidden request in the body of a plain one is its body', async () => {
  const attacker = new RawClient(fixture.port);
  attacker.send(`${POST}Content-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`);
  await attacker.hears('ok');
  expect(inner.connections[0]?.text).toEndWith(`\r\n\r\n${HIDDEN}`);
  expect(attacker.isClosed).toBe(false);
  attacker.close();
});

test('a hidden request after the body of a plain one is one more, of the same client', async () => {
  const attacker = new RawClient(fixture.port);
  attacker.send(`${POST}Content-Length: 0\r\n\r\n${GET}`);
  await attacker.when(() => attacker.text === OK + OK, 'two answers');
  expect(
    inner.connections[0]?.text.match(/X-Fourbeat-Client: s3cret 127\.0\.0\.1 +\r\n/g),
  ).toHaveLength(2);
  attacker.close();
});
