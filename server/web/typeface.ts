import typeface from '@fontsource-variable/figtree/package.json' with { type: 'json' };
import {
  type ReadHandler,
  type ReadOnlyOptions,
  type ReadOnlyRoute,
  readOnlyRoute,
} from '../http/read-only-route.ts';

/** Character sets of the typeface; a page loads a file when it has such characters. */
const SUBSETS = ['latin', 'latin-ext'];

/** URL path of the files, which `player/theme.css` names. */
export const TYPEFACE_PATH = '/player/typeface/';

/**
 * Routes of the typeface of all pages (Figtree, variable weight, SIL Open Font License), by path. The
 * names contain the version, so that browsers keep the files.
 */
export function typefaceRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyRoute> {
  const routes = SUBSETS.map((subset) => {
    const path = `${TYPEFACE_PATH}figtree-${typeface.version}-${subset}.woff2`;
    const file = import.meta.resolve(
      `@fontsource-variable/figtree/files/figtree-${subset}-wght-normal.woff2`,
    );
    return [path, readOnlyRoute(path, serveFont(file), options)] as const;
  });
  return Object.fromEntries(routes);
}

function serveFont(file: string): ReadHandler {
  return (_, baseHeaders, requestId) =>
    new Response(Bun.file(new URL(file)), {
      headers: {
        ...baseHeaders,
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Content-Type': 'font/woff2',
        'X-Request-Id': requestId,
      },
    });
}
