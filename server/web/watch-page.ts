import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { builtPageRoutes } from './built-page.ts';

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
  return builtPageRoutes(
    {
      html: new URL('../../player/watch.html', import.meta.url),
      paths: ['/watch/:stream_id'],
      filesPath: '/player/',
      policy: POLICY,
      files: ['watch.tsx', 'watch-page.css'],
    },
    options,
  );
}
