import type { LiveShow } from '../domains/streams/streams-sql.ts';
import { accepts, prefers } from '../http/accept.ts';
import {
  type ReadHandler,
  type ReadOnlyOptions,
  type ReadOnlyRoute,
  readOnlyRoute,
} from '../http/read-only-route.ts';
import { builtPageRoutes } from './built-page.ts';

export interface StartPageOptions extends ReadOnlyOptions {
  readonly version: string;
  /** Whether this process serves the studio. */
  readonly hasStudio: boolean;
  /** The shows to list. */
  readonly readLiveShows: () => Promise<readonly LiveShow[]>;
}

// The page has a stylesheet and nothing else.
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "font-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Routes of the start page (SPEC O-23), by path. */
export function startPageRoutes(options: StartPageOptions): Record<string, ReadOnlyRoute> {
  const { version, hasStudio, readLiveShows } = options;
  const { '': _, ...routes } = builtPageRoutes(
    {
      html: new URL('../../player/start-page.html', import.meta.url),
      paths: [''],
      filesPath: '/player/start/',
      policy: POLICY,
      files: ['start-page.css'],
      render: async (html) => renderStartPage(html, version, hasStudio, await readLiveShows()),
    },
    options,
  );
  const page = routes['/'];
  const redirect = readOnlyRoute('/', redirectToDocs, options);
  return {
    ...routes,
    '/': async (request) => {
      const response = await (page && !asksForJson(request) ? page : redirect)(request);
      response.headers.append('Vary', 'Accept');
      return response;
    },
  };
}

function renderStartPage(
  html: string,
  version: string,
  hasStudio: boolean,
  shows: readonly LiveShow[],
): string {
  return new HTMLRewriter()
    .on('#version', { element: (element) => void element.setInnerContent(version) })
    .on('.needs-studio', { element: (element) => void (hasStudio || element.remove()) })
    .on('.needs-shows', { element: (element) => void (shows.length > 0 || element.remove()) })
    .on('#shows', {
      element: (element) => {
        for (const { id, title } of shows) {
          const text = Bun.escapeHTML(title);
          const link = `<a href="/watch/${id}"><bdi>${text}</bdi></a>`;
          element.append(`<li>${link}</li>`, { html: true });
        }
      },
    })
    .transform(html);
}

function asksForJson({ headers }: Request): boolean {
  const accept = headers.get('accept');
  return accepts(accept, 'application/json') && !prefers(accept, 'text/html');
}

// For programs that look for the API at the origin.
const redirectToDocs: ReadHandler = (_, baseHeaders, requestId) => {
  const headers = { ...baseHeaders, Location: '/docs', 'X-Request-Id': requestId };
  return new Response('This is Fourbeat. Its API is described at /docs.\n', {
    status: 302,
    headers: { ...headers, 'Content-Type': 'text/plain; charset=utf-8' },
  });
};
