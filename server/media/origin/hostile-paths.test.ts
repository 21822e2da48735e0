import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import {
  FakeStream,
  listenOrigin,
  type OriginFixture,
} from '../../../test/support/media/origin-fixture.ts';
import { STREAM } from '../../../test/support/media/segment-store-fixture.ts';

const stream = new FakeStream().startEpoch().addSegment();

test.each([
  `${STREAM}/../../../etc/passwd`,
  `${STREAM}/..%2f..%2fetc%2fpasswd`,
  `${STREAM}/v0/..%2f..%2fstate.json`,
  `${STREAM}/v0/../0.epoch`,
  `..%2f${STREAM}/v0/1795000000000-0.m4s`,
  `${STREAM}%00/v0/1795000000000-0.m4s`,
  `${STREAM}/v0%00/1795000000000-0.m4s`,
  `${STREAM}/v0/1795000000000-0.m4s%00`,
  `${STREAM}/v0/%00`,
  `${STREAM}/v0/%ff%fe.m4s`,
  `${STREAM}/v0/%zz.m4s`,
  `${STREAM}/v0/1795000000000-00.m4s`,
  `${STREAM}/v0/1795000000000-+1.m4s`,
  `${STREAM}/v0/1795000000000--1.m4s`,
  `${STREAM}/v0/1795000000000-1e1.m4s`,
  `${STREAM}/v0/1795000000000-9999999999999999999999.m4s`,
  `${STREAM}/v0/1795000000000-0.m4s.unfinished`,
  `${STREAM}/v0/init-1795000000000.mp4/`,
  `${STREAM}/__proto__/1795000000000-0.m4s`,
  `${STREAM}/v0/__proto__`,
  `${STREAM}/constructor.m3u8`,
  `${STREAM}/state.json`,
  `${STREAM}/v00.m3u8`,
  `${STREAM}/v0.m3u8%0d%0aX-Evil:%201`,
  `${'a'.repeat(4000)}/v0/1795000000000-0.m4s`,
  `${STREAM}/v0/1795000000000-${'1'.repeat(4000)}.m4s`,
  '//etc/passwd',
])('[M-31] origin rejects the hostile path %j', async (path) => {
  const fixture = listenOrigin(() => stream);
  const request = `GET /media/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  const response = await sendRaw(fixture, request);
  expect(response).toMatch(/^HTTP\/1\.1 (404|400) /);
  expect(response).not.toContain('X-Evil: 1\r\n');
  // An invalid name does not cause a stream lookup.
  expect(fixture.lookUps).toEqual([]);
  expect(fixture.defects).toEqual([]);
  await fixture.stop();
});

/** Sends raw bytes, because `fetch` would normalize the path. */
function sendRaw({ server }: OriginFixture, request: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let response = '';
  const socket = connect(server.port ?? 0, '127.0.0.1', () => socket.write(request));
  socket.on('data', (bytes) => {
    response += bytes.toString('latin1');
  });
  socket.on('close', () => resolve(response));
  socket.on('error', reject);
  return promise;
}
