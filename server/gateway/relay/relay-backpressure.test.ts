import { describe, expect, test } from 'bun:test';
import {
  FORWARDED_GET,
  GET,
  OK,
  relayForEachTest,
} from '../../../test/support/gateway/relay-fixture.ts';
import { until } from '../../../test/support/until.ts';

const { client, fixture, originConnection, startOrigin } = relayForEachTest();

describe('backpressure', () => {
  const CHUNK = Buffer.alloc(1_000_000, 'x');
  // A few times the largest socket buffers of all sides.
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
    const one = client();
    one.pause();
    one.send(GET);
    await until(
      'no more bytes are written',
      isStable(() => writtenBytes),
    );
    expect(writtenBytes).toBeLessThan(BOUND_BYTES);
    one.resume();
    await one.waitFor(() => one.receivedBytes > 300_000_000, 'all of it');
    await until('the request ends', () => fixture().relay.pendingRequests() === 0);
  });

  test('stops the client while the origin server does not read', async () => {
    let isReading = false;
    await startOrigin(({ socket }) => {
      if (!isReading) socket.pause();
    });
    const one = client();
    one.send('POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000000\r\n\r\n');
    for (let n = 0; n < 100; n++) one.send(CHUNK);
    await until(
      'no more bytes are written',
      isStable(() => one.unsentBytes),
    );
    expect(100_000_000 - one.unsentBytes).toBeLessThan(BOUND_BYTES);
    isReading = true;
    originConnection(0).socket.resume();
    await until('the whole body arrives', () => originConnection(0).receivedBytes > 100_000_000);
    originConnection(0).socket.write(OK);
    await one.receives('ok');
  });

  test('stops a client that pipelines requests until the first response', async () => {
    await startOrigin(() => {});
    const one = client();
    one.send(GET);
    for (let n = 0; n < 50; n++) one.send(Buffer.alloc(1_000_000, GET));
    await until(
      'no more bytes are written',
      isStable(() => one.unsentBytes),
    );
    expect(50_000_000 - one.unsentBytes).toBeLessThan(BOUND_BYTES);
    expect(originConnection(0).text).toBe(FORWARDED_GET);
  });

  test('delivers the whole response when the origin server closes while the client does not read', async () => {
    const body = 'x'.repeat(3_000_000);
    const answer = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await startOrigin(({ socket }) => socket.end(answer));
    const one = client();
    one.pause();
    one.send(GET);
    await Bun.sleep(100);
    one.resume();
    await one.waitForClose();
    expect(one.receivedBytes).toBe(answer.length);
  });
});

/** Whether a number is unchanged over five reads. */
function isStable(read: () => number): () => boolean {
  let last = -1;
  let unchangedReads = 0;
  return () => {
    const now = read();
    unchangedReads = now === last && now > 0 ? unchangedReads + 1 : 0;
    last = now;
    return unchangedReads === 4;
  };
}
