import { Problem } from '../http/problem.ts';
import {
  type ReadHandler,
  type ReadOnlyOptions,
  type ReadOnlyRoute,
  readOnlyRoute,
} from '../http/read-only-route.ts';
import { type Page, servePage, textPage } from './page.ts';

/** A page whose scripts and styles are built on the first request. */
export interface BuiltPage {
  readonly html: URL;
  /** URL path patterns of the page. */
  readonly paths: readonly string[];
  /** URL path of its scripts and styles, with a trailing `/`. */
  readonly filesPath: string;
  /** Content-Security-Policy of the page. */
  readonly policy: string;
  /** Builds its scripts and styles, by file name. */
  readonly build: () => Promise<ReadonlyMap<string, Page>>;
}

// Not the name of any built file.
const HTML = 'page.html';

/** Routes of the page and its files, by path. */
export function builtPageRoutes(
  { html, paths, filesPath, policy, build }: BuiltPage,
  options: ReadOnlyOptions,
): Record<string, ReadOnlyRoute> {
  const loadFiles = memoizeSuccess(async () => {
    const [text, built] = await Promise.all([Bun.file(html).text(), build()]);
    const pages = new Map<string, Page>(built).set(
      HTML,
      textPage('text/html; charset=utf-8', text),
    );
    return new Map<string, ReadHandler>(
      [...pages].map(([name, page]) => [name, servePage(page, policy)]),
    );
  });
  const path = (pattern: string, nameOf: (request: Request) => string) => {
    const read: ReadHandler = async (...request) => {
      const file = (await loadFiles()).get(nameOf(request[0]));
      if (!file) throw new Problem(404, 'There is no such file. Reload the page.');
      return file(...request);
    };
    return [pattern, readOnlyRoute(pattern, read, options)] as const;
  };
  return Object.fromEntries([
    ...paths.map((pattern) => path(pattern, () => HTML)),
    path(`${filesPath}:file`, ({ url }) => new URL(url).pathname.slice(filesPath.length)),
  ]);
}

/** Runs `work` on the first call and caches its result; a failed run is repeated by the next call. */
function memoizeSuccess<T>(work: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | null = null;
  return () => {
    pending ??= work().catch((error) => {
      pending = null;
      throw error;
    });
    return pending;
  };
}
