import { afterEach, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MediaConfig } from '../../server/platform/media-settings.ts';
import { replaceRuntime, SYSTEM_RUNTIME } from '../../server/platform/runtime.ts';
import { freePort } from '../support/backends/free-port.ts';
import { ingestOf, startMedia } from '../support/media/live-fixture.ts';
import { until } from '../support/until.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Lets the test run the timers of 30 s. */
function holdRetries() {
  const held = new Map<Timer, () => void>();
  replaceRuntime({
    ...SYSTEM_RUNTIME,
    setTimeout: (run, delayMs) => {
      const timer = SYSTEM_RUNTIME.setTimeout(run, delayMs);
      if (delayMs === 30_000) held.set(timer, run);
      return timer;
    },
    clearTimer: (timer) => {
      if (timer) held.delete(timer);
      SYSTEM_RUNTIME.clearTimer(timer);
    },
  });
  ends.push(() => replaceRuntime(SYSTEM_RUNTIME));
  const retry = () => {
    for (const [timer, run] of [...held]) {
      SYSTEM_RUNTIME.clearTimer(timer);
      held.delete(timer);
      run();
    }
  };
  return { held, retry };
}

/** Wrappers of ffmpeg and ffprobe that fail until they are repaired, as during an upgrade. */
function brokenFfmpeg(): { readonly ffmpeg: string; repair(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-repair-'));
  ends.push(() => rmSync(directory, { recursive: true }));
  const ready = join(directory, 'ready');
  for (const program of ['ffmpeg', 'ffprobe']) {
    const path = join(directory, program);
    writeFileSync(path, `#!/bin/sh\n[ -e '${ready}' ] || exit 1\nexec ${program} "$@"\n`);
    chmodSync(path, 0o755);
  }
  return { ffmpeg: join(directory, 'ffmpeg'), repair: () => writeFileSync(ready, '') };
}

async function start(media: Partial<MediaConfig>) {
  const service = await startMedia({ media });
  ends.push(() => service.close());
  const streamId = await service.createStream();
  return { ingest: () => ingestOf(service, streamId) };
}

/** Connects a source. @returns the close code, or null when it is accepted */
async function connectSource(fixture: Awaited<ReturnType<typeof start>>) {
  const { websocket, key } = await fixture.ingest();
  const socket = new WebSocket(websocket.url);
  const result = Promise.withResolvers<number | null>();
  socket.onopen = () => socket.send(JSON.stringify({ key, type: 'video/webm' }));
  socket.onmessage = () => result.resolve(null);
  socket.onclose = ({ code }) => result.resolve(code);
  return result.promise.finally(() => socket.close());
}

test('[M-44] a service whose ffmpeg fails at the start takes video 30 s after it is repaired', async () => {
  const { retry } = holdRetries();
  const { ffmpeg, repair } = brokenFfmpeg();
  const fixture = await start({ ffmpeg });
  expect(await connectSource(fixture)).toBe(4_503);
  expect(await fixture.ingest()).toMatchObject({ rtmp: null, srt: null });
  repair();
  retry();
  await until('ports', async () => {
    const { rtmp, srt } = await fixture.ingest();
    return rtmp && srt;
  });
  expect(await connectSource(fixture)).toBeNull();
});

test('[M-44] a source that connects 5 s after a failed check is accepted when ffmpeg is repaired', async () => {
  let nowMs = 0;
  replaceRuntime({ ...SYSTEM_RUNTIME, monotonicMs: () => nowMs });
  ends.push(() => replaceRuntime(SYSTEM_RUNTIME));
  const { ffmpeg, repair } = brokenFfmpeg();
  const fixture = await start({ ffmpeg });
  repair();
  expect(await connectSource(fixture)).toBe(4_503);
  nowMs += 5_000;
  expect(await connectSource(fixture)).toBeNull();
  await until('RTMP', async () => (await fixture.ingest()).rtmp);
});

test('[M-44] ports that other processes have at the start are opened 30 s after they are free', async () => {
  const { held, retry } = holdRetries();
  const rtmp = await listenOn(await freePort());
  const srt = await Bun.udpSocket({ hostname: '127.0.0.1', port: 0 });
  ends.push(() => srt.closed || srt.close());
  const media = { rtmpPort: portOf(rtmp), srtPort: srt.port };
  const fixture = await start(media);
  expect(await fixture.ingest()).toMatchObject({ rtmp: null, srt: null });
  await new Promise((resolve) => rtmp.close(resolve));
  retry();
  await until('another failure', () => held.size > 0);
  const { rtmp: opened, srt: missing } = await fixture.ingest();
  expect([opened?.url, missing]).toEqual([expect.stringContaining(`:${media.rtmpPort}/`), null]);
  srt.close();
  retry();
  await until('SRT', async () => (await fixture.ingest()).srt);
});

test('[M-44] a service that stops while its ffmpeg fails checks it no more', async () => {
  const { held } = holdRetries();
  const { ffmpeg } = brokenFfmpeg();
  await using service = await startMedia({ media: { ffmpeg } });
  expect(held.size).toBe(1);
  await service.service.drain();
  expect(held.size).toBe(0);
});

async function listenOn(port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  ends.push(() => server.listening && server.close());
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
