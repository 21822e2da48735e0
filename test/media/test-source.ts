import { fileURLToPath } from 'node:url';
import type { Subprocess } from 'bun';
import type { Harness } from '../harness.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/fourbeat', import.meta.url));
const LIVE_MS = 20_000;
const LOOK_MS = 50;

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
  const deadlineMs = performance.now() + LIVE_MS;
  while (performance.now() < deadlineMs) {
    const playlist = await fetch(`${url}/media/${streamId}/v0.m3u8`);
    if (playlist.ok && (await playlist.text()).includes('#EXTINF')) return source;
    if (source.exitCode !== null) break;
    await Bun.sleep(LOOK_MS);
  }
  source.kill();
  throw new Error(`no video came of the test picture: ${await source.stderr.text()}`);
}
