import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { BunFile } from 'bun';
import type { ReadHandler } from '../http/read-only-route.ts';

/** A page, or a file that one needs. */
export interface Page {
  readonly type: string;
  readonly content: string | BunFile;
  /** Changes whenever the content does. */
  readonly tag: string;
  /** The content by gzip, for who takes that. */
  readonly gzipped?: Uint8Array<ArrayBuffer>;
}

const gzipAsync = promisify(gzip);
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** A page whose text is at hand. */
export interface InMemoryPage extends Page {
  readonly content: string;
}

export function textPage(type: string, content: string): InMemoryPage {
  return { type, content, tag: createHash('sha256').update(content).digest('base64url') };
}

/** The same page, which is sent in fewer bytes where that can be. */
export async function withGzip(page: InMemoryPage): Promise<Page> {
  return { ...page, gzipped: new Uint8Array(await gzipAsync(page.content, { level: 9 })) };
}

/** Serves a page. @param policy its Content-Security-Policy */
export function servePage(page: Page, policy: string): ReadHandler {
  const pageHeaders = {
    // Asked again each time, so that a page never runs with the files of another version.
    'Cache-Control': 'public, no-cache',
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
    ...(page.gzipped && { Vary: 'Accept-Encoding' }),
  };
  return (request, bare, requestId) => {
    const { gzipped } = page;
    const isGzipped = gzipped && GZIP.test(request.headers.get('accept-encoding') ?? '');
    const etag = isGzipped ? `"${page.tag}-gzip"` : `"${page.tag}"`;
    const headers = { ...bare, ...pageHeaders, ETag: etag, 'X-Request-Id': requestId };
    const isCached = request.headers.get('if-none-match')?.includes(etag) ?? false;
    if (isCached) return new Response(null, { status: 304, headers });
    return new Response(isGzipped ? gzipped : page.content, {
      headers: {
        ...headers,
        'Content-Type': page.type,
        ...(isGzipped && { 'Content-Encoding': 'gzip' }),
      },
    });
  };
}
