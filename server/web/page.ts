import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { BunFile } from 'bun';
import type { Reader } from '../http/read-only.ts';

/** A page, or a file that one needs. */
export interface Page {
  readonly type: string;
  readonly content: string | BunFile;
  /** Changes whenever the content does. */
  readonly tag: string;
  /** The content by gzip, for who takes that. */
  readonly gzipped?: Uint8Array<ArrayBuffer>;
}

const inBackground = promisify(gzip);
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** A page whose text is at hand. */
export interface TextPage extends Page {
  readonly content: string;
}

export function own(type: string, content: string): TextPage {
  return { type, content, tag: createHash('sha256').update(content).digest('base64url') };
}

/** The same page, which is sent in fewer bytes where that can be. */
export async function withGzip(page: TextPage): Promise<Page> {
  return { ...page, gzipped: new Uint8Array(await inBackground(page.content, { level: 9 })) };
}

/** Serves a page. @param policy its Content-Security-Policy */
export function serving(page: Page, policy: string): Reader {
  const own = {
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
    const headers = { ...bare, ...own, ETag: etag, 'X-Request-Id': requestId };
    const known = request.headers.get('if-none-match')?.includes(etag) ?? false;
    if (known) return new Response(null, { status: 304, headers });
    return new Response(isGzipped ? gzipped : page.content, {
      headers: {
        ...headers,
        'Content-Type': page.type,
        ...(isGzipped && { 'Content-Encoding': 'gzip' }),
      },
    });
  };
}
