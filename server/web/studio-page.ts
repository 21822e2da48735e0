import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { builtPageRoutes } from './built-page.ts';
import type { Page } from './page.ts';

/** URL paths that the page's own router handles. */
const PAGE_PATHS = [
  '',
  '/team',
  '/tokens',
  '/webhooks',
  '/webhooks/:id',
  '/you',
  '/streams/:id',
  '/streams/:id/:part',
];

// Scripts come only from this service. The studio may not be framed, against clickjacking. It frames the
// watch page, the only page of this service that allows it. Video is as in the watch page; a camera is
// sent over WebSocket.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  'worker-src blob:',
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  'media-src blob: https: http:',
  'connect-src https: http: wss: ws:',
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Routes of the studio (SPEC U), by path. */
export function studioPageRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyRoute> {
  return builtPageRoutes(
    {
      html: new URL('../../studio/studio.html', import.meta.url),
      paths: PAGE_PATHS.map((path) => `/studio${path}`),
      filesPath: '/studio/files/',
      policy: POLICY,
      files: buildInWorker,
    },
    options,
  );
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
