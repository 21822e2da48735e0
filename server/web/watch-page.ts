import { fileURLToPath } from 'node:url';
import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { buildFiles } from './built-files.ts';
import { builtPageRoutes } from './built-page.ts';

const FOLDER = new URL('../../player/', import.meta.url);
/** Where the page's scripts and styles are. */
const FILES_PATH = '/player/';
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
export function watchRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyRoute> {
  const entries = ENTRIES.map((name) => fileURLToPath(new URL(name, FOLDER)));
  return builtPageRoutes(
    {
      html: new URL('watch.html', FOLDER),
      paths: ['/watch/:stream_id', '/watch/:stream_id/'],
      filesPath: FILES_PATH,
      policy: POLICY,
      build: () => buildFiles(entries, FILES_PATH),
    },
    options,
  );
}
