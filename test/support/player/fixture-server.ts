import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildFiles } from '../../../server/web/built-files.ts';
import { typefaceRoutes } from '../../../server/web/typeface.ts';
import { PAGE_OPTIONS } from '../web/page-server.ts';

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Fixture</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/watch-page.css">
  </head>
  <body><div id="root"></div><script type="module" src="/fixture.js"></script></body>
</html>`;

export interface FixtureServer {
  /** @param scene of `pages/scenes.ts`. @param isPlaying whether the stream has video */
  urlOf(scene: string, isPlaying: boolean): string;
  close(): Promise<void>;
}

/** Serves the watch page with a fake viewer, built anew for each server. */
export async function serveFixture(port = 0): Promise<FixtureServer> {
  const paths = ['./pages/fixture.tsx', '../../../player/watch-page.css'];
  const entries = paths.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const files = await buildFiles(entries, '/');
  const fonts = typefaceRoutes(PAGE_OPTIONS);
  const folder = mkdtempSync(join(tmpdir(), 'fourbeat-fixture-'));
  let video: Promise<void> | null = null;
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const [, directory, , name] = pathname.split('/');
      if (pathname === '/') return new Response(HTML, { headers: { 'Content-Type': 'text/html' } });
      if (directory === 'media' && name) {
        // Encoded on demand: most tests need no video.
        video ??= encodeVideo(folder, 60);
        await video;
        const part = Bun.file(join(folder, name));
        return (await part.exists()) ? new Response(part) : new Response(null, { status: 404 });
      }
      const font = fonts[pathname];
      if (font) return font(request);
      const file = files.get(pathname.slice(1));
      if (!file) return new Response(null, { status: 404 });
      return new Response(file.content, { headers: { 'Content-Type': file.type } });
    },
  });
  return {
    urlOf: (scene, isPlaying) => `${server.url.origin}/?scene=${scene}${isPlaying ? '' : '&still'}`,
    async close() {
      await server.stop(true);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Encodes test video as HLS, two renditions with wall clock: `master.m3u8`. */
export async function encodeVideo(folder: string, durationS: number): Promise<void> {
  const picture = `testsrc2=s=640x360:r=10:d=${durationS},format=yuv420p`;
  const split = '[0:v]split[a][b];[b]scale=320:180[c]';
  const ffmpeg = Bun.spawn(
    [
      'ffmpeg',
      ...['-hide_banner', '-loglevel', 'error', '-nostdin', '-f', 'lavfi', '-i', picture],
      ...['-filter_complex', split, '-map', '[a]', '-map', '[c]', '-threads', '1'],
      ...[
        '-c:v',
        'libx264',
        '-preset',
        'ultrafast',
        '-g',
        '20',
        '-b:v:0',
        '900k',
        '-b:v:1',
        '200k',
      ],
      ...['-f', 'hls', '-hls_time', '4', '-hls_playlist_type', 'vod', '-hls_flags'],
      ...['program_date_time', '-master_pl_name', 'master.m3u8', '-var_stream_map', 'v:0 v:1'],
      'v%v.m3u8',
    ],
    { cwd: folder, timeout: 60_000, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  if ((await ffmpeg.exited) !== 0) throw new Error(`ffmpeg failed: ${await ffmpeg.stderr.text()}`);
}
