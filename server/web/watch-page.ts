import type { ShownShow } from '../../protocol/show-page.ts';
import type { ReadOnlyOptions, ReadOnlyRoute } from '../http/read-only-route.ts';
import { builtPageRoutes } from './built-page.ts';
import { watchHtml } from './watch-head.ts';

export interface WatchPageOptions extends ReadOnlyOptions {
  /** The show of a stream; null: there is none, or it cannot be read now. */
  readonly readShow: (streamId: string) => Promise<ShownShow | null>;
  /** The origin at which the client reaches the service, without a trailing slash. */
  readonly originOf: (request: Request) => string;
}

// Scripts come only from this service; the player needs no blob worker. Video and pictures come from the
// URLs of streams, which may be on any host. The player controls use style elements and attributes, which need
// `unsafe-inline`. Any page may frame this one, for `?embed`.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  'img-src data: https: http:',
  'media-src blob: https: http:',
  'connect-src https: http:',
  'frame-ancestors *',
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The stream id in the path of a URL, which may have no valid host. */
const STREAM_ID = /\/watch\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/?(?:[?#]|$)/i;

/** Routes of the watch page, which plays a stream and shows its feed (SPEC M-45), by path. */
export function watchRoutes(options: WatchPageOptions): Record<string, ReadOnlyRoute> {
  const { readShow, originOf } = options;
  const render = async (html: string, request: Request) => {
    const id = STREAM_ID.exec(request.url)?.[1]?.toLowerCase();
    const show = id === undefined ? null : await readShow(id);
    return show ? watchHtml(html, show, `${originOf(request)}/watch/${id}`) : html;
  };
  return builtPageRoutes(
    {
      html: new URL('../../player/watch.html', import.meta.url),
      paths: ['/watch/:stream_id'],
      filesPath: '/player/',
      policy: POLICY,
      files: ['watch.tsx', 'watch-page.css'],
      render,
    },
    options,
  );
}
