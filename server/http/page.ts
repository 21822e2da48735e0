import { createHash } from 'node:crypto';
import type { BunFile } from 'bun';
import type { Reader } from './read-only.ts';

/** A page, or a file that one needs. */
export interface Page {
  readonly type: string;
  readonly content: string | BunFile;
  /** Changes whenever the content does. */
  readonly tag: string;
}

/** A page whose text is at hand. */
export function own(type: string, content: string): Page {
  return { type, content, tag: createHash('sha256').update(content).digest('base64url') };
}

/** Serves a page. @param policy its Content-Security-Policy */
export function serving(page: Page, policy: string): Reader {
  const etag = `"${page.tag}"`;
  const own = {
    // Asked again each time, so that a page never runs with the files of another version.
    'Cache-Control': 'public, no-cache',
    ETag: etag,
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
  };
  return (request, bare, requestId) => {
    const headers = { ...bare, ...own, 'X-Request-Id': requestId };
    const known = request.headers.get('if-none-match')?.includes(etag) ?? false;
    if (known) return new Response(null, { status: 304, headers });
    return new Response(page.content, { headers: { ...headers, 'Content-Type': page.type } });
  };
}
