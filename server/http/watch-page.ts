import { fileURLToPath } from 'node:url';
import { own, serving } from './page.ts';
import { type Reader, type ReadOnlyOptions, type ReadOnlyPath, readOnlyPath } from './read-only.ts';

const FOLDER = new URL('../../player/', import.meta.url);

// Scripts and styles come from here alone; pictures from wherever a stream's own address is. The
// player works in a worker that it makes itself.
const POLICY = [
  "default-src 'none'",
  "script-src 'self' blob:",
  'worker-src blob:',
  "style-src 'self'",
  'img-src data:',
  'media-src blob: https: http:',
  'connect-src https: http:',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The page that shows a stream and its feed (SPEC M-45), by path. */
export function watchRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyPath> {
  const html = once(async () =>
    serving(own('text/html; charset=utf-8', await text('watch.html')), POLICY),
  );
  const css = once(async () =>
    serving(own('text/css; charset=utf-8', await text('watch.css')), POLICY),
  );
  const script = once(async () =>
    serving(own('text/javascript; charset=utf-8', await built('watch.ts')), POLICY),
  );
  const path = (name: string, page: () => Promise<Reader>) =>
    readOnlyPath(name, async (...request) => (await page())(...request), options);
  return {
    '/watch/:stream_id': path('/watch/:stream_id', html),
    '/watch/:stream_id/': path('/watch/:stream_id', html),
    '/player/watch.css': path('/player/watch.css', css),
    '/player/watch.js': path('/player/watch.js', script),
  };
}

/** Done when it is first asked for, and not again unless it failed. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let doing: Promise<T> | null = null;
  return () => {
    doing ??= work().catch((error) => {
      doing = null;
      throw error;
    });
    return doing;
  };
}

function text(name: string): Promise<string> {
  return Bun.file(new URL(name, FOLDER)).text();
}

/** A script with all that it imports, in one file for browsers. */
async function built(name: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [fileURLToPath(new URL(name, FOLDER))],
    target: 'browser',
    minify: true,
  });
  const [output] = outputs;
  if (!output) throw new Error(`${name} cannot be built`);
  return output.text();
}
