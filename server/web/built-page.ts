import { fileURLToPath } from 'node:url';
import { Problem } from '../http/problem.ts';
import {
  type ReadHandler,
  type ReadOnlyOptions,
  type ReadOnlyRoute,
  readOnlyRoute,
} from '../http/read-only-route.ts';
import { buildFiles } from './built-files.ts';
import { type Page, type PageRules, servePage, textPage } from './page.ts';

/** A page whose scripts and styles are built on the first request. */
export interface BuiltPage extends PageRules {
  readonly html: URL;
  /** URL path patterns of the page; each also matches with a trailing `/`. */
  readonly paths: readonly string[];
  /** URL path of the page's scripts and styles, with a trailing `/`. */
  readonly filesPath: string;
  /** Names of scripts and styles beside `html`, or a function that builds them, by file name. */
  readonly files: readonly string[] | (() => Promise<ReadonlyMap<string, Page>>);
  /** Makes the HTML of a request, if it differs between requests. @param html the file */
  readonly render?: (html: string, request: Request) => Promise<string>;
}

// Key of the HTML among the files; no built file has this name.
const HTML = 'page.html';
const HTML_TYPE = 'text/html; charset=utf-8';

/** Routes of the page and its files, by path. */
export function builtPageRoutes(
  { html, paths, filesPath, files, render, ...rules }: BuiltPage,
  options: ReadOnlyOptions,
): Record<string, ReadOnlyRoute> {
  const build =
    typeof files === 'function'
      ? files
      : () =>
          buildFiles(
            files.map((name) => fileURLToPath(new URL(name, html))),
            filesPath,
          );
  const loadFiles = memoizeSuccess(async () => {
    const [text, built] = await Promise.all([Bun.file(html).text(), build()]);
    const handlers = new Map<string, ReadHandler>(
      [...built].map(([name, page]) => [name, servePage(page, rules)]),
    );
    const serveHtml = (content: string) => servePage(textPage(HTML_TYPE, content), rules);
    const rendered: ReadHandler = async (...request) =>
      serveHtml((await render?.(text, request[0])) ?? text)(...request);
    return handlers.set(HTML, render ? rendered : serveHtml(text));
  });
  const routeOf = (pattern: string, nameOf: (request: Request) => string) => {
    const read: ReadHandler = async (...request) => {
      const file = (await loadFiles()).get(nameOf(request[0]));
      if (!file) throw new Problem(404, 'There is no such file. Reload the page.');
      return file(...request);
    };
    return [pattern, readOnlyRoute(pattern, read, options)] as const;
  };
  return Object.fromEntries([
    ...paths.flatMap((pattern) => [pattern, `${pattern}/`].map((p) => routeOf(p, () => HTML))),
    routeOf(`${filesPath}:file`, ({ url }) => pathBelow(url, filesPath)),
  ]);
}

/**
 * The rest of a path below a folder, without the query.
 * @param url may have no valid host
 * @param folder with a trailing `/`
 */
export function pathBelow(url: string, folder: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  return path.slice(path.indexOf(folder) + folder.length);
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
