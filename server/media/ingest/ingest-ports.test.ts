import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { recordingLogger } from '../../../test/support/media/segment-store-fixture.ts';
import { listenRtmp } from '../rtmp/rtmp-listener.ts';
import type { Ingest } from '../source.ts';
import { IngestPorts } from './ingest-ports.ts';

const ingest: Ingest = { open: () => Promise.reject(new Error('unused')) };

test('[M-44] a port that is taken is logged once and opened once when it is free', async () => {
  const { logger, lines } = recordingLogger();
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const ports = new IngestPorts(logger);
  const open = () =>
    ports.open('rtmp', port, () => listenRtmp({ host: '127.0.0.1', port, ingest, logger }));
  expect([await open(), await open(), ports.rtmpPort]).toEqual([false, false, null]);
  other.close();
  await once(other, 'close');
  expect([await open(), ports.rtmpPort]).toEqual([true, port]);
  expect(await open()).toBe(true);
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [50, expect.stringContaining(`${port} is in use`)],
    [30, 'listening for video by RTMP'],
  ]);
  await ports.close();
});
