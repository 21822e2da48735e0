import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import {
  type PlayedConnection,
  type PlayedServer,
  playInner,
  RawClient,
  type RelayFixture,
  SECRET,
  startRelay,
} from '../../../test/support/gateway/relay-fixture.ts';
import { until } from '../../../test/support/until.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const GET = 'GET /a HTTP/1.1\r\nHost: h\r\n\r\n';
// As long for each client: what it says of itself may take 16 KB (G-31).
const TOLD = `${`X-Fourbeat-Client: ${SECRET} 127.0.0.1`.padEnd(126)}\r\n`;
const GET_TOLD = `GET /a HTTP/1.1\r\n${TOLD}Host: h\r\n\r\n`;

let fixture: RelayFixture;
let inner: PlayedServer;
let clients: RawClient[];

beforeEach(() => {
  fixture = startRelay();
  clients = [];
});
afterEach(() => {
  for (const client of clients) client.close();
  inner.close();
  fixture.close();
});

async function play(onData: (connection: PlayedConnection, bytes: Buffer) => void): Promise<void> {
  inner = await playInner(fixture.path, onData);
}

/** An origin server that answers each whole head that comes. */
const answering =
  (answer: string) =>
  ({ socket }: PlayedConnection, bytes: Buffer): void => {
    if (bytes.toString('latin1').includes('\r\n\r\n')) socket.write(answer);
  };

function client(): RawClient {
  const made = new RawClient(fixture.port);
  clients.push(made);
  return made;
}

function innerAt(index: number): PlayedConnection {
  const connection = inner.connections[index];
  if (!connection) throw new Error(`there is no inner connection ${index}`);
  return connection;
}

describe('connections to the origin server', () => {
  test('plain requests of all clients share them, and each says who asks', async () => {
    await play(answering(OK));
    for (let n = 0; n < 3; n++) {
      const one = client();
      one.send(GET);
      await one.hears('ok');
      one.send(GET);
      await one.when(() => one.text === OK + OK, 'two answers');
    }
    expect(inner.connections).toHaveLength(1);
    expect(innerAt(0).text).toBe(GET_TOLD.repeat(6));
    expect(fixture.relay.pendingRequests()).toBe(0);
  });

  test('requests at the same time have one each, which are kept for 4 s', async () => {
    await play(() => {});
    const three = [client(), client(), client()];
    for (const each of three) each.send(GET);
    await until('all have come', () => inner.connections.length === 3);
    expect(fixture.relay.pendingRequests()).toBe(3);
    for (const { socket } of inner.connections) socket.write(OK);
    for (const each of three) await each.hears('ok');
    for (let second = 0; second < 3; second++) fixture.relay.tick();
    client().send(GET);
    await until('one is used again', () =>
      inner.connections.some(({ text }) => text === GET_TOLD + GET_TOLD),
    );
    fixture.relay.tick();
    await until('the others end', () => inner.connections.filter((c) => c.isClosed).length === 2);
  });

  test('one that said it closes, or that ended, serves no other', async () => {
    await play(answering('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'));
    for (let n = 1; n <= 2; n++) {
      const one = client();
      one.send(GET);
      await one.ends();
      expect(one.text).toEndWith('\r\n\r\nok');
      expect(inner.connections).toHaveLength(n);
    }
  });

  test('one that said more than it was asked serves no other, and nobody hears it', async () => {
    await play(answering(`${OK}HTTP/1.1 200 OK\r\n\r\nfor somebody else`));
    for (let n = 1; n <= 2; n++) {
      const one = client();
      one.send(GET);
      await one.ends();
      expect(one.text).toBe(OK);
      expect(inner.connections).toHaveLength(n);
    }
  });

  test('one that speaks unasked is ended', async () => {
    await play(answering(OK));
    const one = client();
    one.send(GET);
    await one.hears('ok');
    innerAt(0).socket.write(OK);
    await until('it ends', () => innerAt(0).isClosed);
    one.send(GET);
    await one.when(() => one.text === OK + OK, 'the second answer');
    expect(inner.connections).toHaveLength(2);
  });

  test('more than its backlog takes at once are all answered', async () => {
    await play(answering(OK));
    const crowd = Array.from({ length: 1_500 }, client);
    for (const each of crowd) each.send(GET);
    await Promise.all(crowd.map((each) => each.hears('ok')));
  });

  test('one that a request no longer needs goes to one that waits for its own', async () => {
    await play(() => {});
    const [first, second, odd] = [client(), client(), client()];
    first.send(GET);
    await until('it is asked', () => inner.connections[0]?.text === GET_TOLD);
    // Nobody can connect from here on.
    rmSync(fixture.path);
    odd.send(GET.replace('Host', 'Connection: close\r\nHost'));
    second.send(GET);
    await until('all wait', () => fixture.relay.pendingRequests() === 3);
    innerAt(0).socket.write(OK);
    await until('the second is asked', () => innerAt(0).text === GET_TOLD + GET_TOLD);
    innerAt(0).socket.write(OK);
    await second.hears('ok');
    expect(odd.text).toBe('');
    expect(inner.connections).toHaveLength(1);
  });

  test('while nobody listens a request waits 5 s, and then its connection ends', async () => {
    inner = { connections: [], close: () => {} };
    const [patient, late] = [client(), client()];
    patient.send(GET);
    await until('it waits', () => fixture.relay.pendingRequests() === 1);
    for (let second = 0; second < 4; second++) fixture.relay.tick();
    late.send(GET);
    await until('both wait', () => fixture.relay.pendingRequests() === 2);
    for (let second = 0; second < 2; second++) fixture.relay.tick();
    await patient.ends();
    await play(answering(OK));
    await late.hears('ok');
  });
});

describe('a request', () => {
  test.each([
    ['without a body', GET, GET_TOLD],
    [
      'with a length',
      'POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello',
      `POST /a HTTP/1.1\r\n${TOLD}Host: h\r\nContent-Length: 5\r\n\r\nhello`,
    ],
    [
      'in chunks, with extensions, and without its trailers',
      'POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a="b"\r\nhello\r\n0\r\nX: y\r\n\r\n',
      `POST /a HTTP/1.1\r\n${TOLD}Host: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a="b"\r\nhello\r\n0\r\n\r\n`,
    ],
    [
      'that names itself',
      'GET /a HTTP/1.1\r\nHost: h\r\nX-Fourbeat-Client: s3cret 1.2.3.4\r\n\r\n',
      `GET /a HTTP/1.1\r\n${TOLD}Host: h\r\nX-Fourbeat-Client: s3cret 1.2.3.4\r\n\r\n`,
    ],
  ])('%s comes to the origin server as it is, in however many parts', async (_, sent, told) => {
    await play(() => {});
    client().send(sent);
    await until('it has come', () => inner.connections[0]?.text === told);
    const dripping = client();
    for (const byte of sent) {
      dripping.send(byte);
      await Bun.sleep(0);
    }
    await until('it has come', () => inner.connections[1]?.text === told);
    expect(inner.connections).toHaveLength(2);
  });

  test('that follows another waits for the answer to it, and is answered next', async () => {
    const numbers = (text: string) => [...text.matchAll(/(?:GET \/|#)(\d)/g)].map(([, n]) => n);
    let isHeld = true;
    await play(({ socket, text }) => {
      if (!isHeld) socket.write(OK.replace('ok', `#${numbers(text).at(-1)}`));
    });
    const one = client();
    one.send(['1', '2', '3'].map((n) => GET.replace('/a', `/${n}`)).join(''));
    await until('the first has come', () => inner.connections.length === 1);
    expect(numbers(innerAt(0).text)).toEqual(['1']);
    isHeld = false;
    innerAt(0).socket.write(OK.replace('ok', '#1'));
    await one.hears('#3');
    expect(numbers(one.text)).toEqual(['1', '2', '3']);
    expect(numbers(innerAt(0).text)).toEqual(['1', '2', '3']);
    expect(inner.connections).toHaveLength(1);
  });

  test('whose client is gone is ended inside', async () => {
    await play(() => {});
    const one = client();
    one.send(GET);
    await until('it has come', () => inner.connections.length === 1);
    one.close();
    await until('it is ended', () => innerAt(0).isClosed);
    expect(fixture.relay.pendingRequests()).toBe(0);
  });

  test('that the origin server breaks off ends for its client too, and is not tried again', async () => {
    await play(({ socket }) => socket.destroy());
    const one = client();
    one.send(GET);
    await one.ends();
    expect(one.text).toBe('');
    expect(inner.connections).toHaveLength(1);
  });

  test('of which a kept connection had just ended is not tried again either', async () => {
    await play(({ socket, text }) => {
      if (text === GET_TOLD) socket.write(OK);
      else socket.destroy();
    });
    const one = client();
    one.send(GET);
    await one.hears('ok');
    one.send(GET);
    await one.ends();
    expect(one.text).toBe(OK);
    expect(inner.connections).toHaveLength(1);
  });

  test('without the rest of its body ends after 12 s of silence', async () => {
    await play(() => {});
    const one = client();
    one.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe');
    await until('it has come', () => inner.connections[0]?.text.endsWith('he'));
    for (let second = 0; second < 12; second++) fixture.relay.tick();
    one.send('l');
    await until('it has come', () => innerAt(0).text.endsWith('hel'));
    for (let second = 0; second < 12; second++) fixture.relay.tick();
    expect(one.isClosed).toBe(false);
    fixture.relay.tick();
    await one.ends();
  });

  test('that is whole may be held for as long as the origin server likes', async () => {
    await play(() => {});
    const one = client();
    one.send(GET);
    await until('it has come', () => inner.connections.length === 1);
    for (let second = 0; second < 1_000; second++) fixture.relay.tick();
    innerAt(0).socket.write(OK);
    await one.hears('ok');
  });
});

describe('an answer', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const HEAD = GET.replace('GET', 'HEAD');
  test.each([
    ['with a length', GET, OK],
    ['in chunks', GET, `${chunked}5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`],
    ['in chunks with trailers', GET, `${chunked}5\r\nhello\r\n0\r\nX: y\r\nZ: \r\n\r\n`],
    ['of chunks that look like an end', GET, `${chunked}7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n`],
    ['204', GET, 'HTTP/1.1 204 No Content\r\nX: y\r\n\r\n'],
    ['304 with the length of what is not sent', GET, 'HTTP/1.1 304 X\r\nContent-Length: 9\r\n\r\n'],
    ['of no bytes', GET, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['to HEAD', HEAD, 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'],
    ['to HEAD of chunks', HEAD, chunked],
    ['after 103', GET, `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`],
    ['after 100 and 103', GET, `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\n\r\n${OK}`],
  ])(
    '%s is passed as it is, in however many parts, and the connections go on',
    async (_, request, answer) => {
      let isDripping = false;
      await play(async ({ socket }) => {
        if (!isDripping) socket.write(answer);
        else
          for (const byte of answer) {
            socket.write(byte);
            await Bun.sleep(0);
          }
      });
      const one = client();
      one.send(request);
      await one.when(() => one.text === answer, 'the answer');
      isDripping = true;
      one.send(request);
      await one.when(() => one.text === answer + answer, 'it again');
      expect(fixture.relay.pendingRequests()).toBe(0);
      expect(inner.connections).toHaveLength(1);
    },
  );

  test('that ends with its connection is passed to its end', async () => {
    const answer = 'HTTP/1.1 200 OK\r\n\r\nall of this';
    await play(({ socket }) => socket.end(answer));
    const one = client();
    one.send(GET);
    await one.ends();
    expect(one.text).toBe(answer);
  });

  test.each([
    ['its length', 'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf of'],
    ['the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nhalf of\r\n'],
  ])('that breaks off before %s is broken off for the client', async (_, answer) => {
    await play(({ socket }) => socket.end(answer));
    const one = client();
    one.send(GET);
    await one.ends();
    expect(one.text).toBe(answer);
  });

  test.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n'],
    ['a chunk that is none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['a head without an end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`],
  ])('of %s ends both connections', async (_, answer) => {
    await play(({ socket }) => socket.write(answer));
    const one = client();
    one.send(GET);
    await one.ends();
    await until('the inner one is ended', () => innerAt(0).isClosed);
  });

  test('that comes before the body keeps the connection when it does not say otherwise', async () => {
    await play(({ socket, text }) => {
      if (text.endsWith('\r\n\r\n')) socket.write(OK);
    });
    const one = client();
    one.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n');
    await one.hears('ok');
    one.send(`hello${GET}`);
    await one.when(() => one.text === OK + OK, 'both answers');
    expect(innerAt(0).text).toEndWith(`hello${GET_TOLD}`);
  });

  test('[O-11] that comes before a body that drips ends the connection soon, and holds up no drain', async () => {
    await play(answering(OK));
    const one = client();
    one.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4000\r\n\r\nhello');
    await one.hears('ok');
    expect(fixture.relay.pendingRequests()).toBe(0);
    for (let second = 0; second < 6; second++) {
      one.send('x');
      fixture.relay.tick();
    }
    await one.ends();
    expect(one.text).toBe(OK);
  });

  test('that comes before the body and closes ends the connection at once', async () => {
    await play(answering('HTTP/1.1 413 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'));
    const one = client();
    one.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 500000000\r\n\r\nhello');
    await one.ends();
    expect(one.text).toStartWith('HTTP/1.1 413');
  });
});

test('[G-31] a head that is too long is not looked through', async () => {
  await play(answering('HTTP/1.1 431 X\r\nContent-Length: 0\r\n\r\n'));
  const one = client();
  one.send(GET.replace('Host', `X-Long: ${'x'.repeat(17_000)}\r\nHost`));
  await one.ends();
  expect(one.text).toStartWith('HTTP/1.1 431 X\r\nConnection: close\r\n');
});

describe('another protocol', () => {
  const UPGRADE = 'GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
  const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';

  test('goes both ways from its first byte, though it came before the switch', async () => {
    await play(() => {});
    const one = client();
    one.send(`${UPGRADE}early`);
    await until('it has come', () => inner.connections[0]?.text.endsWith('Upgrade: x\r\n\r\n'));
    expect(fixture.relay.pendingRequests()).toBe(1);
    innerAt(0).socket.write(`${SWITCHED}welcome`);
    await one.when(() => one.text === `${SWITCHED}welcome`, 'the switch');
    expect(fixture.relay.pendingRequests()).toBe(0);
    one.send(' and later');
    await until('both came', () => innerAt(0).text.endsWith('\r\n\r\nearly and later'));
    for (let second = 0; second < 1_000; second++) fixture.relay.tick();
    innerAt(0).socket.end('bye');
    await one.ends();
    expect(one.text).toBe(`${SWITCHED}welcomebye`);
  });

  test('that is refused leaves what came before unheard, and the connection ends', async () => {
    await play(answering(OK));
    const one = client();
    one.send(`${UPGRADE}early`);
    await one.ends();
    expect(one.text).toEndWith('\r\n\r\nok');
    expect(innerAt(0).text).not.toContain('early');
  });

  test('ends with the relay', async () => {
    await play(({ socket }) => socket.write(SWITCHED));
    const one = client();
    one.send(UPGRADE);
    await one.hears('101');
    fixture.relay.close();
    await one.ends();
  });
});

describe('a slow side', () => {
  const CHUNK = Buffer.alloc(1_000_000, 'x');
  // What the kernel and each side hold: a few times its largest buffers.
  const BOUND_BYTES = 24_000_000;

  test('a client that does not read keeps the origin server from sending', async () => {
    let writtenBytes = 0;
    await play(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 300000000\r\n\r\n');
      const pump = () => {
        while (writtenBytes < 300_000_000) {
          writtenBytes += CHUNK.length;
          if (!socket.write(CHUNK)) return;
        }
      };
      socket.on('drain', pump);
      pump();
    });
    const one = client();
    one.pause();
    one.send(GET);
    await until(
      'it stands still',
      isStill(() => writtenBytes),
    );
    expect(writtenBytes).toBeLessThan(BOUND_BYTES);
    one.resume();
    await one.when(() => one.receivedBytes > 300_000_000, 'all of it');
    await until('it is over', () => fixture.relay.pendingRequests() === 0);
  });

  test('an origin server that does not read keeps the client from sending', async () => {
    let isReading = false;
    await play(({ socket }) => {
      if (!isReading) socket.pause();
    });
    const one = client();
    one.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n');
    for (let n = 0; n < 100; n++) one.send(CHUNK);
    await until(
      'it stands still',
      isStill(() => one.unsentBytes),
    );
    expect(100_000_000 - one.unsentBytes).toBeLessThan(BOUND_BYTES);
    isReading = true;
    innerAt(0).socket.resume();
    await until('all of it has come', () => innerAt(0).receivedBytes > 100_000_000);
    innerAt(0).socket.write(OK);
    await one.hears('ok');
  });

  test('a client that sends request after request without end is not read until it is answered', async () => {
    await play(() => {});
    const one = client();
    one.send(GET);
    for (let n = 0; n < 50; n++) one.send(Buffer.alloc(1_000_000, GET));
    await until(
      'it stands still',
      isStill(() => one.unsentBytes),
    );
    expect(50_000_000 - one.unsentBytes).toBeLessThan(BOUND_BYTES);
    expect(innerAt(0).text).toBe(GET_TOLD);
  });

  test('an origin server that ended while the client did not read is heard to its end', async () => {
    const body = 'x'.repeat(3_000_000);
    const answer = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await play(({ socket }) => socket.end(answer));
    const one = client();
    one.pause();
    one.send(GET);
    await Bun.sleep(100);
    one.resume();
    await one.ends();
    expect(one.receivedBytes).toBe(answer.length);
  });
});

/** Whether a number stays as it is, by some looks at it. */
function isStill(read: () => number): () => boolean {
  let last = -1;
  let looks = 0;
  return () => {
    const now = read();
    looks = now === last && now > 0 ? looks + 1 : 0;
    last = now;
    return looks === 4;
  };
}
