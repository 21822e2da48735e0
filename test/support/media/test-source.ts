import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import type { Harness } from '../harness/harness.ts';

const PROGRAM = fileURLToPath(new URL('../../../bin/fourbeat', import.meta.url));
const LIVE_MS = 20_000;
const LOOK_MS = 50;

/**
 * Has ffmpeg send a picture full of noise by RTMP, which takes all that its renditions may have,
 * until its first segment is there. The service needs a port for it.
 */
export async function sendNoise(
  { url, account }: Pick<Harness, 'url' | 'account'>,
  streamId: string,
): Promise<Subprocess> {
  const response = await fetch(`${url}/studio/v1/streams/${streamId}/ingest`, {
    headers: { Authorization: `Token ${account.token}` },
  });
  const { rtmp } = (await response.json()) as { rtmp: { url: string; key: string } };
  const picture = 'testsrc2=s=320x180:r=15,noise=alls=60:allf=t,format=yuv420p';
  const source = Bun.spawn(
    [
      ...['ffmpeg', '-hide_banner', '-loglevel', 'error', '-nostdin', '-re'],
      ...['-f', 'lavfi', '-i', picture, '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '15'],
      ...['-tune', 'zerolatency', '-f', 'flv', `${rtmp.url}/${rtmp.key}`],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  return untilLive(source, url, streamId);
}

/** Has `fourbeat media play` send the test picture to a stream, until its first segment is there. */
export async function playTestPicture(
  { url, account }: Pick<Harness, 'url' | 'account'>,
  streamId: string,
  size = '320x180',
): Promise<Subprocess> {
  const what = ['--stream', streamId, '--url', url, '--size', size, '--fps', '15', '--plain'];
  const source = Bun.spawn([PROGRAM, 'media', 'play', ...what], {
    env: { ...process.env, FOURBEAT_TOKEN: account.token },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return untilLive(source, url, streamId);
}

async function untilLive(
  source: Subprocess<'ignore', 'pipe' | 'ignore', 'pipe'>,
  url: string,
  streamId: string,
): Promise<Subprocess> {
  const deadlineMs = performance.now() + LIVE_MS;
  while (performance.now() < deadlineMs) {
    const playlist = await fetch(`${url}/media/${streamId}/v0.m3u8`);
    if (playlist.ok && (await playlist.text()).includes('#EXTINF')) return source;
    if (source.exitCode !== null) break;
    await Bun.sleep(LOOK_MS);
  }
  source.kill();
  throw new Error(`no video came: ${await source.stderr.text()}`);
}
