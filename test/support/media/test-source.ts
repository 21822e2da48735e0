import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import type { Harness } from '../harness/harness.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/fourbeat', import.meta.url));
const LIVE_TIMEOUT_MS = 20_000;
const POLL_MS = 50;

/**
 * Sends video full of noise by RTMP, whose renditions reach their bit rate caps, and waits for the
 * first segment. The service needs an RTMP port.
 */
export async function sendNoise(
  { url, account }: Pick<Harness, 'url' | 'account'>,
  streamId: string,
): Promise<Subprocess> {
  const response = await fetch(`${url}/studio/v1/streams/${streamId}/ingest`, {
    headers: { Authorization: `Token ${account.token}` },
  });
  const { rtmp } = (await response.json()) as { rtmp: { url: string; key: string } };
  const video = 'testsrc2=s=320x180:r=15,noise=alls=60:allf=t,format=yuv420p';
  const source = Bun.spawn(
    [
      ...['ffmpeg', '-hide_banner', '-loglevel', 'error', '-nostdin', '-re'],
      ...['-f', 'lavfi', '-i', video, '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15'],
      ...['-tune', 'zerolatency', '-f', 'flv', `${rtmp.url}/${rtmp.key}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  return waitUntilLive(source, url, streamId);
}

/** Sends the test picture with `fourbeat media play`, and waits for the first segment. */
export async function playTestPicture(
  { url, account }: Pick<Harness, 'url' | 'account'>,
  streamId: string,
  size = '320x180',
): Promise<Subprocess> {
  const args = ['--stream', streamId, '--url', url, '--size', size, '--fps', '15', '--plain'];
  const source = Bun.spawn([PROGRAM, 'media', 'play', ...args], {
    env: { ...process.env, FOURBEAT_TOKEN: account.token },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return waitUntilLive(source, url, streamId);
}

async function waitUntilLive(
  source: Subprocess<'ignore', 'pipe' | 'ignore', 'pipe'>,
  url: string,
  streamId: string,
): Promise<Subprocess> {
  const deadlineMs = performance.now() + LIVE_TIMEOUT_MS;
  while (performance.now() < deadlineMs) {
    const playlist = await fetch(`${url}/media/${streamId}/v0.m3u8`);
    if (playlist.ok && (await playlist.text()).includes('#EXTINF')) return source;
    if (source.exitCode !== null) break;
    await Bun.sleep(POLL_MS);
  }
  source.kill();
  throw new Error(`no segment within ${LIVE_TIMEOUT_MS} ms: ${await source.stderr.text()}`);
}
