import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { BunFile } from 'bun';
import type { ReadHandler } from '../http/read-only-route.ts';

/** A file that a page consists of, ready to be served. */
export interface Page {
  readonly type: string;
  readonly content: string | BunFile;
  /** Changes with the content; part of the ETag. */
  readonly tag: string;
  /** The compressed content, for clients that accept gzip. */
  readonly gzipped?: Uint8Array<ArrayBuffer>;
}

const gzipAsync = promisify(gzip);
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

export interface InMemoryPage extends Page {
  readonly content: string;
}

export function textPage(type: string, content: string): InMemoryPage {
  return { type, content, tag: createHash('sha256').update(content).digest('base64url') };
}

export async function withGzip(page: InMemoryPage): Promise<Page> {
  return { ...page, gzipped: new Uint8Array(await gzipAsync(page.content, { level: 9 })) };
}

const DEVICES = ['display-capture', 'geolocation', 'midi', 'payment', 'usb'];
const CAMERA = ['camera', 'microphone'];

function permissions(usesCamera: boolean): string {
  const denied = DEVICES.map((name) => `${name}=()`);
  const camera = CAMERA.map((name) => `${name}=(${usesCamera ? 'self' : ''})`);
  return [...camera, ...denied].join(', ');
}

export interface PageRules {
  /** Content-Security-Policy of the page. */
  readonly policy: string;
  /** Whether the page may ask for camera and microphone. */
  readonly usesCamera?: boolean | undefined;
}

/** A handler that serves a page. */
export function servePage(page: Page, { policy, usesCamera = false }: PageRules): ReadHandler {
  const pageHeaders = {
    // Revalidated every time, so that a page never runs with files of another version.
    'Cache-Control': 'public, no-cache',
    'Content-Security-Policy': policy,
    // A page that opens this one, or is opened by it, gets no handle to its window.
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Permissions-Policy': permissions(usesCamera),
    // Other origins learn nothing. Here it shows which page a request is of (SPEC U-7).
    'Referrer-Policy': 'same-origin',
    ...(page.gzipped && { Vary: 'Accept-Encoding' }),
  };
  // Blobs: given the bytes, each response has a copy until its client has read it.
  const content = typeof page.content === 'string' ? new Blob([page.content]) : page.content;
  const gzipped = page.gzipped && new Blob([page.gzipped]);
  return (request, baseHeaders, requestId) => {
    const isGzipped = gzipped && GZIP.test(request.headers.get('accept-encoding') ?? '');
    const etag = isGzipped ? `"${page.tag}-gzip"` : `"${page.tag}"`;
    const headers = { ...baseHeaders, ...pageHeaders, ETag: etag, 'X-Request-Id': requestId };
    const isCached = request.headers.get('if-none-match')?.includes(etag) ?? false;
    if (isCached) return new Response(null, { status: 304, headers });
    return new Response(isGzipped ? gzipped : content, {
      headers: {
        ...headers,
        'Content-Type': page.type,
        ...(isGzipped && { 'Content-Encoding': 'gzip' }),
      },
    });
  };
}
