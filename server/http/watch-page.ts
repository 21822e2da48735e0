import { fileURLToPath } from 'node:url';
import { builtFiles } from './built-files.ts';
import { own, type Page, serving } from './page.ts';
import { Problem } from './problem.ts';
import { type Reader, type ReadOnlyOptions, type ReadOnlyPath, readOnlyPath } from './read-only.ts';

const FOLDER = new URL('../../player/', import.meta.url);
/** Where the page's scripts and styles are. */
const PLACE = '/player/';
const HTML = 'watch.html';
const ENTRIES = ['watch.tsx', 'watch-page.css'];

// Scripts come from here alone, and none from what the page makes itself: its player needs no worker.
// Pictures come from wherever a stream's own address is. The controls bring their styles in elements
// of their own, and place parts of them by attributes: without `unsafe-inline` for styles they would
// have none. Any page may have this one in a frame: that is what `?embed` is for.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src data:',
  'media-src blob: https: http:',
  'connect-src https: http:',
  'frame-ancestors *',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The page that shows a stream and its feed (SPEC M-45), by path. */
export function watchRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyPath> {
  const files = once(readFiles);
  const read = async (name: string, request: Parameters<Reader>) => {
    const file = (await files()).get(name);
    if (!file) throw new Problem(404, 'There is no such file.');
    return file(...request);
  };
  const path = (name: string, nameOf: (request: Request) => string) =>
    readOnlyPath(name, (...request) => read(nameOf(request[0]), request), options);
  const html = path('/watch/:stream_id', () => HTML);
  return {
    '/watch/:stream_id': html,
    '/watch/:stream_id/': html,
    [`${PLACE}:file`]: path(`${PLACE}:file`, ({ url }) =>
      new URL(url).pathname.slice(PLACE.length),
    ),
  };
}

/** Everything that the page consists of, by name. */
async function readFiles(): Promise<ReadonlyMap<string, Reader>> {
  const paths = ENTRIES.map((name) => fileURLToPath(new URL(name, FOLDER)));
  const [html, built] = await Promise.all([
    Bun.file(new URL(HTML, FOLDER)).text(),
    builtFiles(paths, PLACE),
  ]);
  const files = new Map<string, Page>(built).set(HTML, own('text/html; charset=utf-8', html));
  return new Map([...files].map(([name, page]) => [name, serving(page, POLICY)] as const));
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
