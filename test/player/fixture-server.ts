import { fileURLToPath } from 'node:url';
import type { Server } from 'bun';
import { builtFiles } from '../../server/http/built-files.ts';

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

/** The page with a fake viewer, built anew for each server: `/?scene=…` (see `pages/scenes.ts`). */
export async function serveFixture(port = 0): Promise<Server<undefined>> {
  const paths = ['./pages/fixture.tsx', '../../player/watch-page.css'];
  const entries = paths.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const files = await builtFiles(entries, '/');
  return Bun.serve({
    hostname: '127.0.0.1',
    port,
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/') return new Response(HTML, { headers: { 'Content-Type': 'text/html' } });
      const file = files.get(pathname.slice(1));
      if (!file) return new Response(null, { status: 404 });
      return new Response(file.content, { headers: { 'Content-Type': file.type } });
    },
  });
}
