import { Problem } from '../http/problem.ts';
import {
  type ReadHandler,
  type ReadOnlyOptions,
  type ReadOnlyRoute,
  readOnlyRoute,
} from '../http/read-only-route.ts';
import { type Page, servePage, textPage } from './page.ts';

/** A page whose scripts and styles are built when it is first asked for. */
export interface BuiltPage {
  readonly html: URL;
  /** Where it is. */
  readonly paths: readonly string[];
  /** Where its scripts and styles are, with `/` at its end. */
  readonly filesPath: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
  /** Its scripts and styles, by name. */
  readonly build: () => Promise<ReadonlyMap<string, Page>>;
}

// No file that is built has it.
const HTML = 'page.html';

/** The page and everything that it consists of, by path. */
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
      if (!file) throw new Problem(404, 'There is no such file.');
      return file(...request);
    };
    return [pattern, readOnlyRoute(pattern, read, options)] as const;
  };
  return Object.fromEntries([
    ...paths.map((pattern) => path(pattern, () => HTML)),
    path(`${filesPath}:file`, ({ url }) => new URL(url).pathname.slice(filesPath.length)),
  ]);
}

/** Done when it is first asked for, and not again unless it failed. */
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
