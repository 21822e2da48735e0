import { describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import {
  CLIENT_HEADER,
  type FakeOriginConnection,
  FORWARDED_GET,
  GET,
  OK,
  relayForEachTest,
} from '../../../test/support/gateway/relay-fixture.ts';
import { until } from '../../../test/support/until.ts';

const {
  client: connectClient,
  connections,
  fixture,
  originConnection,
  startOrigin,
} = relayForEachTest();

/** An `onData` of the origin server that responds to each complete head. */
const respondingWith =
  (answer: string) =>
  ({ socket }: FakeOriginConnection, bytes: Buffer): void => {
    if (bytes.toString('latin1').includes('\r\n\r\n')) socket.write(answer);
  };

describe('connections to the origin server', () => {
  test('serve unambiguous requests of all clients, each with the address of its client', async () => {
    await startOrigin(respondingWith(OK));
    for (let n = 0; n < 3; n++) {
      const client = connectClient();
      client.send(GET);
      await client.receives('ok');
      client.send(GET);
      await client.waitFor(() => client.text === OK + OK, 'two answers');
    }
    expect(connections()).toHaveLength(1);
    expect(originConnection(0).text).toBe(FORWARDED_GET.repeat(6));
    expect(fixture().relay.pendingRequests()).toBe(0);
  });

  test('serve one request at a time, and are closed after 4 s without a request', async () => {
    await startOrigin(() => {});
    const three = [connectClient(), connectClient(), connectClient()];
    for (const each of three) each.send(GET);
    await until('all requests arrive', () => connections().length === 3);
    expect(fixture().relay.pendingRequests()).toBe(3);
    for (const { socket } of connections()) socket.write(OK);
    for (const each of three) await each.receives('ok');
    for (let second = 0; second < 3; second++) fixture().relay.tick();
    connectClient().send(GET);
    await until('one connection is reused', () =>
      connections().some(({ text }) => text === FORWARDED_GET + FORWARDED_GET),
    );
    fixture().relay.tick();
    await until(
      'the others are closed',
      () => connections().filter((c) => c.isClosed).length === 2,
    );
  });

  test('serve no other request after Connection: close', async () => {
    await startOrigin(
      respondingWith('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok'),
    );
    for (let n = 1; n <= 2; n++) {
      const client = connectClient();
      client.send(GET);
      await client.waitForClose();
      expect(client.text).toEndWith('\r\n\r\nok');
      expect(connections()).toHaveLength(n);
    }
  });

  test('serve no other request after bytes behind a response, which no client receives', async () => {
    await startOrigin(respondingWith(`${OK}HTTP/1.1 200 OK\r\n\r\nfor somebody else`));
    for (let n = 1; n <= 2; n++) {
      const client = connectClient();
      client.send(GET);
      await client.waitForClose();
      expect(client.text).toBe(OK);
      expect(connections()).toHaveLength(n);
    }
  });

  test('are closed when they receive data without a request', async () => {
    await startOrigin(respondingWith(OK));
    const client = connectClient();
    client.send(GET);
    await client.receives('ok');
    originConnection(0).socket.write(OK);
    await until('it is closed', () => originConnection(0).isClosed);
    client.send(GET);
    await client.waitFor(() => client.text === OK + OK, 'the second answer');
    expect(connections()).toHaveLength(2);
  });

  test('serve 1,500 requests at once, more than the backlog of the origin server', async () => {
    await startOrigin(respondingWith(OK));
    const crowd = Array.from({ length: 1_500 }, connectClient);
    for (const each of crowd) each.send(GET);
    await Promise.all(crowd.map((each) => each.receives('ok')));
  });

  test('go to a waiting unambiguous request when they are released', async () => {
    await startOrigin(() => {});
    const [first, second, unusual] = [connectClient(), connectClient(), connectClient()];
    first.send(GET);
    await until('the first request arrives', () => connections()[0]?.text === FORWARDED_GET);
    // From here on no connection can be opened.
    rmSync(fixture().path);
    unusual.send(GET.replace('Host', 'Connection: close\r\nHost'));
    second.send(GET);
    await until('all requests wait', () => fixture().relay.pendingRequests() === 3);
    originConnection(0).socket.write(OK);
    await until(
      'the second request arrives',
      () => originConnection(0).text === FORWARDED_GET + FORWARDED_GET,
    );
    originConnection(0).socket.write(OK);
    await second.receives('ok');
    expect(unusual.text).toBe('');
    expect(connections()).toHaveLength(1);
  });

  test('are awaited for 5 s, then the client is disconnected', async () => {
    const [first, second] = [connectClient(), connectClient()];
    first.send(GET);
    await until('the first request waits', () => fixture().relay.pendingRequests() === 1);
    for (let second = 0; second < 4; second++) fixture().relay.tick();
    second.send(GET);
    await until('both requests wait', () => fixture().relay.pendingRequests() === 2);
    for (let second = 0; second < 2; second++) fixture().relay.tick();
    await first.waitForClose();
    await startOrigin(respondingWith(OK));
    await second.receives('ok');
  });
});

describe('the relay', () => {
  test.each([
    ['without a body', GET, FORWARDED_GET],
    [
      'with a length',
      'POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello',
      `POST /a HTTP/1.1\r\n${CLIENT_HEADER}Host: h\r\nContent-Length: 5\r\n\r\nhello`,
    ],
    [
      'with a chunked body (without its trailers)',
      'POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a="b"\r\nhello\r\n0\r\nX: y\r\n\r\n',
      `POST /a HTTP/1.1\r\n${CLIENT_HEADER}Host: h\r\nTransfer-Encoding: chunked\r\n\r\n5;a="b"\r\nhello\r\n0\r\n\r\n`,
    ],
    [
      'with a forged client header',
      'GET /a HTTP/1.1\r\nHost: h\r\nX-Fourbeat-Client: s3cret 1.2.3.4\r\n\r\n',
      `GET /a HTTP/1.1\r\n${CLIENT_HEADER}Host: h\r\nX-Fourbeat-Client: s3cret 1.2.3.4\r\n\r\n`,
    ],
  ])(
    'adds only the client header to a request %s, however it is split',
    async (_, sent, expected) => {
      await startOrigin(() => {});
      connectClient().send(sent);
      await until('the request arrives', () => connections()[0]?.text === expected);
      const slow = connectClient();
      for (const byte of sent) {
        slow.send(byte);
        await Bun.sleep(0);
      }
      await until('the request arrives', () => connections()[1]?.text === expected);
      expect(connections()).toHaveLength(2);
    },
  );

  test('holds pipelined requests back until the response to the previous one', async () => {
    const numbers = (text: string) => [...text.matchAll(/(?:GET \/|#)(\d)/g)].map(([, n]) => n);
    let isWaiting = true;
    await startOrigin(({ socket, text }) => {
      if (!isWaiting) socket.write(OK.replace('ok', `#${numbers(text).at(-1)}`));
    });
    const client = connectClient();
    client.send(['1', '2', '3'].map((n) => GET.replace('/a', `/${n}`)).join(''));
    await until('the first request arrives', () => connections().length === 1);
    expect(numbers(originConnection(0).text)).toEqual(['1']);
    isWaiting = false;
    originConnection(0).socket.write(OK.replace('ok', '#1'));
    await client.receives('#3');
    expect(numbers(client.text)).toEqual(['1', '2', '3']);
    expect(numbers(originConnection(0).text)).toEqual(['1', '2', '3']);
    expect(connections()).toHaveLength(1);
  });

  test('closes the origin connection when the client disconnects', async () => {
    await startOrigin(() => {});
    const client = connectClient();
    client.send(GET);
    await until('the request arrives', () => connections().length === 1);
    client.close();
    await until('it is closed', () => originConnection(0).isClosed);
    expect(fixture().relay.pendingRequests()).toBe(0);
  });

  test('disconnects the client when the origin server does, without a retry', async () => {
    await startOrigin(({ socket }) => socket.destroy());
    const client = connectClient();
    client.send(GET);
    await client.waitForClose();
    expect(client.text).toBe('');
    expect(connections()).toHaveLength(1);
  });

  test('does not retry a request on a reused connection that ends', async () => {
    await startOrigin(({ socket, text }) => {
      if (text === FORWARDED_GET) socket.write(OK);
      else socket.destroy();
    });
    const client = connectClient();
    client.send(GET);
    await client.receives('ok');
    client.send(GET);
    await client.waitForClose();
    expect(client.text).toBe(OK);
    expect(connections()).toHaveLength(1);
  });

  test('ends a request after 12 s without a byte of its body', async () => {
    await startOrigin(() => {});
    const client = connectClient();
    client.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe');
    await until('the request arrives', () => connections()[0]?.text.endsWith('he'));
    for (let second = 0; second < 12; second++) fixture().relay.tick();
    client.send('l');
    await until('the next byte arrives', () => originConnection(0).text.endsWith('hel'));
    for (let second = 0; second < 12; second++) fixture().relay.tick();
    expect(client.isClosed).toBe(false);
    fixture().relay.tick();
    await client.waitForClose();
  });

  test.each(['hi', 'x'.repeat(40_000)])(
    'rejects a malformed request that the origin server does not answer within 3 s: %#',
    async (body) => {
      await startOrigin(() => {});
      const client = connectClient();
      const lengths = 'Content-Length: 2\r\nContent-Length: 2\r\n';
      client.send(`POST /a HTTP/1.1\r\nHost: h\r\n${lengths}\r\n${body}`);
      await until('the head arrives', () => connections()[0]?.text.endsWith('\r\n\r\n'));
      for (let second = 0; second < 2; second++) fixture().relay.tick();
      expect(client.isClosed).toBe(false);
      fixture().relay.tick();
      await client.waitForClose();
      expect(client.text).toBe('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
    },
  );

  test.each([
    ['video/mp4', true],
    ['application/vnd.apple.mpegurl', false],
  ])('[L-3] a response with %s that is not sent after a minute ends: %p', async (type, ends) => {
    await startOrigin(() => {});
    const client = connectClient();
    client.send(GET);
    await until('the request arrives', () => connections().length === 1);
    // The recording may have to be loaded first.
    for (let second = 0; second < 100; second++) fixture().relay.tick();
    const { socket } = originConnection(0);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\nx`);
    await client.receives('x');
    for (let second = 0; second < 60; second++) fixture().relay.tick();
    expect(fixture().relay.pendingRequests()).toBe(1);
    fixture().relay.tick();
    expect(fixture().relay.pendingRequests()).toBe(ends ? 0 : 1);
  });

  test('waits for the response to a complete request without a limit', async () => {
    await startOrigin(() => {});
    const client = connectClient();
    client.send(GET);
    await until('the request arrives', () => connections().length === 1);
    for (let second = 0; second < 1_000; second++) fixture().relay.tick();
    originConnection(0).socket.write(OK);
    await client.receives('ok');
  });
});

describe('a relayed response', () => {
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const HEAD = GET.replace('GET', 'HEAD');
  test.each([
    ['with a length', GET, OK],
    ['with a chunked body', GET, `${chunked}5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`],
    ['with a chunked body and trailers', GET, `${chunked}5\r\nhello\r\n0\r\nX: y\r\nZ: \r\n\r\n`],
    [
      'with a chunk that contains the end of a body',
      GET,
      `${chunked}7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n`,
    ],
    ['with status 204', GET, 'HTTP/1.1 204 No Content\r\nX: y\r\n\r\n'],
    ['with status 304 and a length', GET, 'HTTP/1.1 304 X\r\nContent-Length: 9\r\n\r\n'],
    ['with an empty body', GET, 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['to HEAD', HEAD, 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'],
    ['to HEAD with a chunked encoding', HEAD, chunked],
    ['after 103', GET, `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}`],
    ['after 100 and 103', GET, `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\n\r\n${OK}`],
  ])(
    '%s reaches the client unchanged, however it is split, and keeps both connections',
    async (_, request, answer) => {
      let isSlow = false;
      await startOrigin(async ({ socket }) => {
        if (!isSlow) socket.write(answer);
        else
          for (const byte of answer) {
            socket.write(byte);
            await Bun.sleep(0);
          }
      });
      const client = connectClient();
      client.send(request);
      await client.waitFor(() => client.text === answer, 'the answer');
      isSlow = true;
      client.send(request);
      await client.waitFor(() => client.text === answer + answer, 'it again');
      expect(fixture().relay.pendingRequests()).toBe(0);
      expect(connections()).toHaveLength(1);
    },
  );

  test('that ends with its connection reaches the client completely', async () => {
    const answer = 'HTTP/1.1 200 OK\r\n\r\nall of this';
    await startOrigin(({ socket }) => socket.end(answer));
    const client = connectClient();
    client.send(GET);
    await client.waitForClose();
    expect(client.text).toBe(answer);
  });

  test.each([
    ['its length', 'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf of'],
    ['the last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nhalf of\r\n'],
  ])('that is cut off before %s disconnects the client', async (_, answer) => {
    await startOrigin(({ socket }) => socket.end(answer));
    const client = connectClient();
    client.send(GET);
    await client.waitForClose();
    expect(client.text).toBe(answer);
  });

  test.each([
    ['that is not HTTP', 'hello\r\n\r\n'],
    ['with an invalid length', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n'],
    ['with an invalid chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['with a head above the limit', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`],
  ])('%s ends both connections', async (_, answer) => {
    await startOrigin(({ socket }) => socket.write(answer));
    const client = connectClient();
    client.send(GET);
    await client.waitForClose();
    await until('the origin connection is closed', () => originConnection(0).isClosed);
  });

  test('before the end of the request body ends the connection, which a proxy might use again', async () => {
    await startOrigin(({ socket, text }) => {
      if (text.endsWith('\r\n\r\n')) socket.write(OK);
    });
    const client = connectClient();
    client.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe');
    await until('the request arrives', () => connections()[0]?.text.endsWith('he'));
    originConnection(0).socket.write(OK);
    await client.waitForClose();
    expect(client.text).toBe(OK.replace('\r\n', '\r\nConnection: close\r\n'));
    expect(fixture().relay.pendingRequests()).toBe(0);
    await until('the origin connection is closed', () => originConnection(0).isClosed);
  });

  test('with Connection: close before the end of the request body ends the connection at once', async () => {
    await startOrigin(
      respondingWith('HTTP/1.1 413 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
    );
    const client = connectClient();
    client.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 500000000\r\n\r\nhello');
    await client.waitForClose();
    expect(client.text).toStartWith('HTTP/1.1 413');
  });
});

test('[G-31] the relay ends the connection after the response to a head above 16 KB', async () => {
  await startOrigin(respondingWith('HTTP/1.1 431 X\r\nContent-Length: 0\r\n\r\n'));
  const client = connectClient();
  client.send(GET.replace('Host', `X-Long: ${'x'.repeat(17_000)}\r\nHost`));
  await client.waitForClose();
  expect(client.text).toStartWith('HTTP/1.1 431 X\r\nConnection: close\r\n');
});

describe('a connection with an upgrade request', () => {
  const UPGRADE = 'GET /a HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
  const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';

  test('passes on all bytes in both directions after the switch, also those sent before it', async () => {
    await startOrigin(() => {});
    const client = connectClient();
    client.send(`${UPGRADE}early`);
    await until('the request arrives', () => connections()[0]?.text.endsWith('Upgrade: x\r\n\r\n'));
    expect(fixture().relay.pendingRequests()).toBe(1);
    originConnection(0).socket.write(`${SWITCHED}welcome`);
    await client.waitFor(() => client.text === `${SWITCHED}welcome`, 'the switch');
    expect(fixture().relay.pendingRequests()).toBe(0);
    client.send(' and later');
    await until('all bytes arrive', () =>
      originConnection(0).text.endsWith('\r\n\r\nearly and later'),
    );
    for (let second = 0; second < 1_000; second++) fixture().relay.tick();
    originConnection(0).socket.end('bye');
    await client.waitForClose();
    expect(client.text).toBe(`${SWITCHED}welcomebye`);
  });

  test('drops bytes sent before the switch when the upgrade is refused, and ends', async () => {
    await startOrigin(respondingWith(OK));
    const client = connectClient();
    client.send(`${UPGRADE}early`);
    await client.waitForClose();
    expect(client.text).toEndWith('\r\n\r\nok');
    expect(originConnection(0).text).not.toContain('early');
  });

  test('ends when the relay closes', async () => {
    await startOrigin(({ socket }) => socket.write(SWITCHED));
    const client = connectClient();
    client.send(UPGRADE);
    await client.receives('101');
    fixture().relay.close();
    await client.waitForClose();
  });
});
