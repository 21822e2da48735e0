import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  type PlayedServer,
  playInner,
  RawClient,
  type RelayGround,
  startRelay,
} from '../../test/relay-ground.ts';
import { until } from '../../test/until.ts';

// What a client may hide in a request must reach nobody else's: an odd request has an inner
// connection of its own, over which nothing comes after it.

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const GET = 'GET /next HTTP/1.1\r\nHost: h\r\n\r\n';
const HIDDEN = 'GET /hidden HTTP/1.1\r\nHost: h\r\n\r\n';
const POST = 'POST /odd HTTP/1.1\r\nHost: h\r\n';

let ground: RelayGround;
let inner: PlayedServer;
beforeEach(async () => {
  ground = startRelay();
  inner = await playInner(ground.path, ({ socket, text }, bytes) => {
    if (text.length === bytes.length || bytes.includes('/next')) socket.write(OK);
  });
});
afterEach(() => {
  inner.close();
  ground.close();
});

const ODD: [string, string][] = [
  ['two lengths that differ', `${POST}Content-Length: 0\r\nContent-Length: 33\r\n\r\n${HIDDEN}`],
  ['two lengths alike', `${POST}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${HIDDEN}`],
  ['a list of lengths', `${POST}Content-Length: 0, 0\r\n\r\n${HIDDEN}`],
  ['a length with a sign', `${POST}Content-Length: +0\r\n\r\n${HIDDEN}`],
  ['a length below 0', `${POST}Content-Length: -1\r\n\r\n${HIDDEN}`],
  ['a length with zeros before', `${POST}Content-Length: 00\r\n\r\n${HIDDEN}`],
  ['a length in hexadecimal', `${POST}Content-Length: 0x0\r\n\r\n${HIDDEN}`],
  ['an empty length', `${POST}Content-Length:\r\n\r\n${HIDDEN}`],
  ['a length and a space of no break', `${POST}Content-Length: 0\xa0\r\n\r\n${HIDDEN}`],
  ['a length beyond all numbers', `${POST}Content-Length: 18446744073709551616\r\n\r\n${HIDDEN}`],
  [
    'length and chunks',
    `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  [
    'chunks and length',
    `${POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['chunks', `${POST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunks that are none', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n${HIDDEN}`],
  [
    'a chunk whose end is not there',
    `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['a chunk that ends by LF', `${POST}Transfer-Encoding: chunked\r\n\r\n0\n\n${HIDDEN}`],
  ['chunks twice', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
  [
    'chunks and identity',
    `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['an encoding that is none', `${POST}Transfer-Encoding: xchunked\r\n\r\n${HIDDEN}`],
  [
    'chunks in HTTP/1.0',
    `POST /odd HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  ],
  ['space before the colon', `${POST}Content-Length : 0\r\n\r\n${HIDDEN}`],
  ['space before a name', `${POST} Content-Length: 0\r\n\r\n${HIDDEN}`],
  ['a folded line', `${POST}X: y\r\n Content-Length: 33\r\n\r\n${HIDDEN}`],
  ['a header ended by LF', `${POST}X: y\nContent-Length: 33\r\n\r\n${HIDDEN}`],
  ['a header ended by CR', `${POST}X: y\rContent-Length: 33\r\n\r\n${HIDDEN}`],
  ['NUL in a header', `${POST}X: \0\r\n\r\n${HIDDEN}`],
  ['a line without a colon', `${POST}nonsense\r\n\r\n${HIDDEN}`],
  ['a name that is none', `${POST}X(y): z\r\n\r\n${HIDDEN}`],
  ['a name with other letters', `${POST}Content-L\xe9ngth: 3\r\n\r\n${HIDDEN}`],
  ['no host', `POST /odd HTTP/1.1\r\nContent-Length: 0\r\n\r\n${HIDDEN}`],
  ['two hosts', `${POST}Host: i\r\n\r\n${HIDDEN}`],
  [
    'GET with a body',
    `GET /odd HTTP/1.1\r\nHost: h\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  ],
  [
    'HEAD with a body',
    `HEAD /odd HTTP/1.1\r\nHost: h\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  ],
  ['a method that is none of ours', `BREW /odd HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['a tunnel', `CONNECT odd:1 HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['a whole address', `GET http://h/odd HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['a path with other letters', `GET /odd\xff HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['two spaces', `GET  /odd HTTP/1.1\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['another version', `GET /odd HTTP/1.2\r\nHost: h\r\n\r\n${HIDDEN}`],
  ['the version of old', `GET /odd HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n${HIDDEN}`],
  ['Connection: close', `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n${HIDDEN}`],
  [
    'a header of hops',
    `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Fourbeat-Client\r\n\r\n${HIDDEN}`,
  ],
  [
    'Expect',
    `POST /odd HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n${HIDDEN}`,
  ],
  [
    'Upgrade',
    `GET /odd HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n${HIDDEN}`,
  ],
  ['no HTTP', `hello\r\n\r\n${HIDDEN}`],
];

test.each(ODD)(
  '%s has a connection of its own, and both ends end after the answer',
  async (_, odd) => {
    const other = new RawClient(ground.port);
    other.send(GET);
    await other.hears('ok');
    const attacker = new RawClient(ground.port);
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

test.each(ODD.filter(([, odd]) => odd.endsWith(HIDDEN)))(
  'what follows %s does not come when the end of the request is known',
  async (name, odd) => {
    const attacker = new RawClient(ground.port);
    attacker.send(odd);
    await attacker.ends();
    const came = inner.connections[0]?.text.includes('/hidden');
    expect([name, came]).toEqual([name, isUnknown(name)]);
  },
);

// Of these nobody can say where they end, and the inner server refuses them.
function isUnknown(name: string): boolean {
  const known =
    /^(no host|two hosts|HEAD|GET|a method|a tunnel|a whole|the version|Connection|a header of hops|Expect|Upgrade)/;
  return !known.test(name) || name.endsWith('with a body');
}

test('a hidden request in the body of a plain one is its body', async () => {
  const attacker = new RawClient(ground.port);
  attacker.send(`${POST}Content-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`);
  await attacker.hears('ok');
  expect(inner.connections[0]?.text).toEndWith(`\r\n\r\n${HIDDEN}`);
  expect(attacker.isClosed).toBe(false);
  attacker.close();
});

test('a hidden request after the body of a plain one is one more, of the same client', async () => {
  const attacker = new RawClient(ground.port);
  attacker.send(`${POST}Content-Length: 0\r\n\r\n${GET}`);
  await attacker.when(() => attacker.text === OK + OK, 'two answers');
  expect(
    inner.connections[0]?.text.match(/X-Fourbeat-Client: s3cret 127\.0\.0\.1\r\n/g),
  ).toHaveLength(2);
  attacker.close();
});
