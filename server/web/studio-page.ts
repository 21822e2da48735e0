import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { builtPageRoutes } from './built-page.ts';
import type { Page } from './page.ts';

const FOLDER = new URL('../../studio/', import.meta.url);

/** Places of the page's own that can be opened, as they are in its router. */
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

// Scripts come from here alone, and nobody may have the studio in a frame, where a click could be
// stolen. In a frame of its own it has the viewers' page, the only one of this service that lets itself
// be put there. Pictures and their players are as in the viewers' page; a camera goes out by WebSocket.
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

/** The studio's page (SPEC U), by path. */
export function studioPageRoutes(options: ReadOnlyOptions): Record<string, ReadOnlyRoute> {
  return builtPageRoutes(
    {
      html: new URL('studio.html', FOLDER),
      paths: PAGE_PATHS.flatMap((place) => [`/studio${place}`, `/studio${place}/`]),
      filesPath: '/studio/files/',
      policy: POLICY,
      build: buildInWorker,
    },
    options,
  );
}

/** In a thread of its own: Tailwind takes the one it runs in for 140 ms, and a show may be on. */
function buildInWorker(): Promise<ReadonlyMap<string, Page>> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./studio-page-worker.ts', import.meta.url).href);
    worker.onmessage = ({ data }: MessageEvent<ReadonlyMap<string, Page> | string>) => {
      worker.terminate();
      if (typeof data === 'string') reject(new Error(`the studio cannot be built: ${data}`));
      else resolve(data);
    };
    worker.onerror = ({ message }) => {
      worker.terminate();
      reject(new Error(`the studio cannot be built: ${message}`));
    };
  });
}
