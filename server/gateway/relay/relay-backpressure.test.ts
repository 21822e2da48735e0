import { describe, expect, test } from 'bun:test';
import {
  FORWARDED_GET,
  GET,
  OK,
  relayForEachTest,
} from '../../../test/support/gateway/relay-fixture.ts';
import { until } from '../../../test/support/until.ts';
import { ORIGIN_SOCKET_BYTES } from '../unsent-responses.ts';

const { client: connectClient, fixture, originConnection, startOrigin } = relayForEachTest();

describe('backpressure', () => {
  const CHUNK = Buffer.alloc(1_000_000, 'x');
  // A few times as much as all socket buffers between client and origin server take.
  const BOUND_BYTES = 24_000_000;

  test('stops the origin server while the client does not read', async () => {
    let writtenBytes = 0;
    await startOrigin(({ socket }) => {
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
    const client = connectClient();
    client.pause();
    client.send(GET);
    await until(
      'no more bytes are written',
      isStable(() => writtenBytes),
    );
    expect(writtenBytes).toBeLessThan(BOUND_BYTES);
    client.resume();
    await client.waitFor(() => client.receivedBytes > 300_000_000, 'all of it');
    await until('the request ends', () => fixture().relay.pendingRequests() === 0);
  });

  test('stops the client while the origin server does not read', async () => {
    let isReading = false;
    await startOrigin(({ socket }) => {
      if (!isReading) socket.pause();
    });
    const client = connectClient();
    client.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n');
    for (let n = 0; n < 100; n++) client.send(CHUNK);
    await until(
      'no more bytes are written',
      isStable(() => client.unsentBytes),
    );
    expect(100_000_000 - client.unsentBytes).toBeLessThan(BOUND_BYTES);
    isReading = true;
    originConnection(0).socket.resume();
    await until('the whole body arrives', () => originConnection(0).receivedBytes > 100_000_000);
    originConnection(0).socket.write(OK);
    await client.receives('ok');
  });

  /** Relays a request of a client whose connection takes everything. */
  function relay(onSent: (bytes: Uint8Array) => void) {
    const client = {
      address: '127.0.0.1',
      send: (bytes: Uint8Array) => {
        onSent(bytes);
        return true;
      },
      pause: () => {},
      resume: () => {},
      completed: () => {},
      end: () => {},
    };
    return fixture().relay.start(client, Buffer.from(GET));
  }

  test.each([
    ['application/problem+json', 2_000_000],
    ['text/html', 0],
  ])('[L-3] counts the rest of a body of %s: %d bytes', async (type, restBytes) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 3000000\r\n\r\n`;
    await startOrigin(({ socket }) => {
      socket.write(head);
      socket.write(CHUNK);
    });
    let receivedBytes = 0;
    const relayed = relay(({ length }) => {
      receivedBytes += length;
    });
    await until('a third arrives', () => receivedBytes === head.length + CHUNK.length);
    expect(relayed.restBytes).toBe(ORIGIN_SOCKET_BYTES + restBytes);
    relayed.onClose();
  });

  test.each([
    ['application/vnd.apple.mpegurl', { key: 'W/"abc" 3000000', byteLength: 3_000_000 }],
    ['video/mp4', null],
  ])('[L-3] a response shares a body with others: %s', async (type, body) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nETag: W/"abc"`;
    await startOrigin(({ socket }) => {
      socket.write(`${head}\r\nContent-Length: 3000000\r\n\r\nx`);
    });
    let hasBody = false;
    const relayed = relay((sent) => {
      hasBody ||= Buffer.from(sent).includes('\r\n\r\nx');
    });
    await until('the body begins', () => hasBody);
    expect(relayed.sharedBody).toEqual(body);
    relayed.onClose();
  });

  test('stops a client that pipelines requests until the first response', async () => {
    await startOrigin(() => {});
    const client = connectClient();
    client.send(GET);
    for (let n = 0; n < 50; n++) client.send(Buffer.alloc(1_000_000, GET));
    await until(
      'no more bytes are written',
      isStable(() => client.unsentBytes),
    );
    expect(50_000_000 - client.unsentBytes).toBeLessThan(BOUND_BYTES);
    expect(originConnection(0).text).toBe(FORWARDED_GET);
  });

  test('delivers the whole response when the origin server closes while the client does not read', async () => {
    const body = 'x'.repeat(3_000_000);
    const answer = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await startOrigin(({ socket }) => socket.end(answer));
    const client = connectClient();
    client.pause();
    client.send(GET);
    await Bun.sleep(100);
    client.resume();
    await client.waitForClose();
    expect(client.receivedBytes).toBe(answer.length);
  });
});

/** A condition for `until`: a positive number is the same in five consecutive reads. */
function isStable(read: () => number): () => boolean {
  let last = -1;
  let unchangedReads = 0;
  return () => {
    const now = read();
    unchangedReads = now === last && now > 0 ? unchangedReads + 1 : 0;
    last = now;
    return unchangedReads === 4; // The first read compares with nothing.
  };
}
