import { fileURLToPath } from 'node:url';
import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { buildFiles } from './built-files.ts';
import { builtPageRoutes } from './built-page.ts';

const FOLDER = new URL('../../player/', import.meta.url);
/** URL path of the page's scripts and styles. */
const FILES_PATH = '/player/';
const ENTRIES = ['watch.tsx', 'watch-page.css'];

// Scripts come only from this service; the player needs no blob worker. Video comes from the URLs of
// streams, which may be on any host. The player controls use style elements and attributes, which need
// `unsafe-inline`. Any page may frame this one, for `?embed`.
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

/** Routes of the watch page, which plays a stream and shows its feed (SPEC M-45), by path. */
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
