import { accepts } from '../http/accept.ts';
import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { notFoundHandler } from '../http/router.ts';
import { builtPageRoutes, pathBelow } from './built-page.ts';
import type { Page } from './page.ts';

/** Paths below `/studio` that the page's own router handles. */
export const STUDIO_PATHS = [
  '',
  '/team',
  '/tokens',
  '/webhooks',
  '/webhooks/:id',
  '/you',
  '/streams/:id',
  '/streams/:id/rundown',
  '/streams/:id/rehearsal',
  '/streams/:id/on-air',
  '/streams/:id/report',
];

// Below `/studio/`.
const API_OR_FILE = /^(?:v1|files|present)(?:\/|$)/;

// Scripts come only from this service. The studio may not be framed, against clickjacking. It frames the
// watch page, the only page of this service that allows it. Video is as in the watch page; a camera is
// sent over WebSocket.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  'worker-src blob:',
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data: blob: https:",
  'media-src blob: https: http:',
  'connect-src https: http: wss: ws:',
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Routes of the studio (SPEC U), by path. */
export function studioPageRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyRoute> {
  const routes = builtPageRoutes(
    {
      html: new URL('../../studio/studio.html', import.meta.url),
      paths: STUDIO_PATHS.map((path) => `/studio${path}`),
      filesPath: '/studio/files/',
      policy: POLICY,
      usesCamera: true,
      files: buildInWorker,
    },
    options,
  );
  return { ...routes, '/studio/*': notFoundRoute(routes['/studio'], options) };
}

/** Browsers get the studio, whose router shows its own "not found" page; other clients get JSON. */
function notFoundRoute(
  studio: ReadOnlyRoute | undefined,
  { corsOrigin, log }: ReadOnlyOptions,
): ReadOnlyRoute {
  const notFound = notFoundHandler(corsOrigin, log);
  return async (request) => {
    const { method, url, headers } = request;
    const isPage =
      (method === 'GET' || method === 'HEAD') &&
      accepts(headers.get('accept'), 'text/html') &&
      !API_OR_FILE.test(pathBelow(url, '/studio/'));
    if (!isPage || !studio) return notFound(request);
    // Not the client's request: its `If-None-Match` could lead to a 304, and its `Host` may be invalid.
    const page = await studio(new Request('http://localhost/studio', { method }));
    if (page.status !== 200) return page;
    const pageHeaders = new Headers(page.headers);
    pageHeaders.delete('etag');
    pageHeaders.set('cache-control', 'no-store');
    return new Response(page.body, { status: 404, headers: pageHeaders });
  };
}

/** Builds in a worker: Tailwind blocks its thread for 140 ms, which would delay a live show. */
function buildInWorker(): Promise<ReadonlyMap<string, Page>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./studio-page-worker.ts', import.meta.url).href);
    worker.onmessage = ({ data }: MessageEvent<ReadonlyMap<string, Page> | string>) => {
      worker.terminate();
      if (typeof data === 'string') reject(new Error(`building the studio failed: ${data}`));
      else resolve(data);
    };
    worker.onerror = ({ message }) => {
      worker.terminate();
      reject(new Error(`building the studio failed: ${message}`));
    };
  });
}
