import { describe, expect, test } from 'bun:test';
import { documentRoutes } from './docs.ts';
import type { OpenApiDocument } from './openapi.ts';

const shared = {
  corsOrigin: 'https://app.example',
  log: { requestId: () => 'request-1', logDefect: () => {} },
};
const routes = documentRoutes({ version: '1.2.3', ...shared });

const documentPaths = Object.keys(routes);

function request(path: string, init: RequestInit = {}): Response {
  const handler = routes[path];
  if (!handler) throw new Error(`no route ${path}`);
  const response = handler(new Request(`http://127.0.0.1${path}`, init));
  if (response instanceof Promise) throw new Error('a document must be served synchronously');
  return response;
}

describe('/docs', () => {
  test('[O-16] /docs, with and without the slash, loads only from this service', async () => {
    for (const path of ['/docs', '/docs/']) {
      const response = request(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const html = await response.text();
      expect(html).toContain('<title>Fourbeat API</title>');
      const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '');
      expect(loaded.length).toBeGreaterThan(4);
      for (const address of loaded) expect(Object.keys(routes)).toContain(address);
      expect(html).not.toMatch(/<script>|<style>| on[a-z]+=/);
    }
  });

  test('/docs shows /openapi.json', async () => {
    expect(await request('/docs/page.js').text()).toContain("url: '/openapi.json'");
  });

  test.each([
    ['/docs/page.js', 'text/javascript; charset=utf-8', 'SwaggerUIBundle'],
    ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8', 'SwaggerUIBundle'],
    ['/docs/page.css', 'text/css; charset=utf-8', 'margin'],
    ['/docs/swagger-ui.css', 'text/css; charset=utf-8', '.swagger-ui'],
    ['/docs/favicon.png', 'image/png', 'PNG'],
  ])('%s is served as %s', async (path, type, part) => {
    const response = request(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toContain(part);
  });

  test('documents run only scripts of this service and cannot be framed', () => {
    for (const path of documentPaths) {
      const policy = request(path).headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(policy).not.toContain('http');
      expect(request(path).headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  test('documents are revalidated every time, with 304 for a matching ETag', async () => {
    for (const path of documentPaths) {
      const first = request(path);
      expect(first.headers.get('cache-control')).toBe('public, no-cache');
      const tag = first.headers.get('etag') ?? '';
      expect(tag).toMatch(/^"[\w.-]+"$/);
      const again = request(path, { headers: { 'If-None-Match': tag } });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe('');
      expect(again.headers.get('content-type')).toBeNull();
      expect(request(path, { headers: { 'If-None-Match': '"other"' } }).status).toBe(200);
    }
  });

  test('[G-10] [G-11] documents support GET, HEAD and OPTIONS', async () => {
    for (const path of documentPaths) {
      expect(request(path, { method: 'HEAD' }).status).toBe(200);
      const options = request(path, { method: 'OPTIONS' });
      expect(options.status).toBe(204);
      expect(options.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      const post = request(path, { method: 'POST' });
      expect(post.status).toBe(405);
      expect(post.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect(await post.json()).toMatchObject({ status: 405, title: 'Method Not Allowed' });
    }
  });
});

describe('/openapi.json', () => {
  test('[O-15] /openapi.json is an OpenAPI 3.1 document of this version, readable by other origins', async () => {
    const response = request('/openapi.json');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(response.headers.get('x-request-id')).toBe('request-1');
    const document = (await response.json()) as OpenApiDocument & { info: { version: string } };
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('1.2.3');
  });
});
