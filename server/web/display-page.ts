import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { builtPageRoutes } from './built-page.ts';

// The page needs only its own files and the event stream of its show, and may not be framed.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
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
  return builtPageRoutes(
    {
      html: new URL('../../studio/display/display.html', import.meta.url),
      paths: ['/studio/present/:stream_id'],
      filesPath: '/studio/present/files/',
      policy: POLICY,
      files: ['display.tsx', 'display.css'],
    },
    options,
  );
}
