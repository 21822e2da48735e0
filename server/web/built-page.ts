import { Problem } from '../http/problem.ts';
import {
  type Reader,
  type ReadOnlyOptions,
  type ReadOnlyPath,
  readOnlyPath,
} from '../http/read-only.ts';
import { own, type Page, serving } from './page.ts';

/** A page whose scripts and styles are built when it is first asked for. */
export interface BuiltPage {
  readonly html: URL;
  /** Where it is. */
  readonly paths: readonly string[];
  /** Where its scripts and styles are, with `/` at its end. */
  readonly place: string;
  /** Its Content-Security-Policy. */
  readonly policy: string;
  /** Its scripts and styles, by name. */
  readonly build: () => Promise<ReadonlyMap<string, Page>>;
}

// No file that is built has it.
const HTML = 'page.html';

/** The page and everything that it consists of, by path. */
export function builtPageRoutes(
  { html, paths, place, policy, build }: BuiltPage,
  options: ReadOnlyOptions,
): Record<string, ReadOnlyPath> {
  const files = once(async () => {
    const [text, built] = await Promise.all([Bun.file(html).text(), build()]);
    const pages = new Map<string, Page>(built).set(HTML, own('text/html; charset=utf-8', text));
    return new Map<string, Reader>([...pages].map(([name, page]) => [name, serving(page, policy)]));
  });
  const path = (pattern: string, nameOf: (request: Request) => string) => {
    const read: Reader = async (...request) => {
      const file = (await files()).get(nameOf(request[0]));
      if (!file) throw new Problem(404, 'There is no such file.');
      return file(...request);
    };
    return [pattern, readOnlyPath(pattern, read, options)] as const;
  };
  return Object.fromEntries([
    ...paths.map((pattern) => path(pattern, () => HTML)),
    path(`${place}:file`, ({ url }) => new URL(url).pathname.slice(place.length)),
  ]);
}

/** Done when it is first asked for, and not again unless it failed. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let doing: Promise<T> | null = null;
  return () => {
    doing ??= work().catch((error) => {
      doing = null;
      throw error;
    });
    return doing;
  };
}
