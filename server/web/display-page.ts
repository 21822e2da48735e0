import { fileURLToPath } from 'node:url';
import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { buildFiles } from './built-files.ts';
import { builtPageRoutes } from './built-page.ts';

const FOLDER = new URL('../../studio/present/', import.meta.url);
/** Where the page's scripts and styles are. */
const FILES_PATH = '/studio/present/files/';
const ENTRIES = ['present.tsx', 'present.css'];

// It needs nothing but itself and the line to its show, and nobody may have it in a frame.
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
 * The show for the wall behind its host (SPEC B-14), by path. A page of its own: a wall's machine,
 * or OBS, need not load the studio.
 */
export function displayRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyRoute> {
  const entries = ENTRIES.map((name) => fileURLToPath(new URL(name, FOLDER)));
  return builtPageRoutes(
    {
      html: new URL('present.html', FOLDER),
      paths: ['/studio/present/:stream_id', '/studio/present/:stream_id/'],
      filesPath: FILES_PATH,
      policy: POLICY,
      build: () => buildFiles(entries, FILES_PATH),
    },
    options,
  );
}
