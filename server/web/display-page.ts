import { fileURLToPath } from 'node:url';
import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { buildFiles } from './built-files.ts';
import { builtPageRoutes } from './built-page.ts';

const FOLDER = new URL('../../studio/display/', import.meta.url);
/** URL path of the page's scripts and styles. */
const FILES_PATH = '/studio/present/files/';
const ENTRIES = ['display.tsx', 'display.css'];

// The page needs only its own files and the event stream of its show, and may not be framed.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/**
 * Routes of the display page, for a screen on stage or OBS (SPEC B-14), by path. It is separate from the
 * studio so that small machines load less.
 */
export function displayRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyRoute> {
  const entries = ENTRIES.map((name) => fileURLToPath(new URL(name, FOLDER)));
  return builtPageRoutes(
    {
      html: new URL('display.html', FOLDER),
      paths: ['/studio/present/:stream_id', '/studio/present/:stream_id/'],
      filesPath: FILES_PATH,
      policy: POLICY,
      build: () => buildFiles(entries, FILES_PATH),
    },
    options,
  );
}
