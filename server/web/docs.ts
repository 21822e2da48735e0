import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type ReadOnlyOptions,
  type ReadOnlyRoute,
  readOnlyRoute,
} from '../http/read-only-route.ts';
import { openApiDocument } from './openapi.ts';
import { type Page, servePage, textPage } from './page.ts';

export interface DocumentOptions extends ReadOnlyOptions {
  readonly version: string;
}

// Only scripts and requests of this origin: no inline script, no other origin, no framing.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Fourbeat API</title>
    <link rel="icon" type="image/png" href="/docs/favicon.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
  </head>
  <body>
    <main id="api"><noscript>This page needs JavaScript. Without it, read
      <a href="/openapi.json">openapi.json</a>.</noscript></main>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/page.js"></script>
  </body>
</html>
`;

const SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  domNode: document.getElementById('api'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
});
`;

const STYLE = `body { margin: 0; }
/* No response has links, and the empty column does not fit on a phone. */
.swagger-ui .response-col_links { display: none; }
`;

/** Routes of `/openapi.json` and the page that shows it (SPEC O-15, O-16), by path. */
export function documentRoutes(options: DocumentOptions): Record<string, ReadOnlyRoute> {
  const json = JSON.stringify(openApiDocument(options.version));
  const page = textPage('text/html; charset=utf-8', HTML);
  const viewer = viewerFolder();
  const pages: Readonly<Record<string, Page>> = {
    '/openapi.json': textPage('application/json', json),
    '/docs': page,
    '/docs/': page,
    '/docs/page.js': textPage('text/javascript; charset=utf-8', SCRIPT),
    '/docs/page.css': textPage('text/css; charset=utf-8', STYLE),
    '/docs/swagger-ui.css': viewerFile('text/css; charset=utf-8', join(viewer, 'swagger-ui.css')),
    '/docs/swagger-ui-bundle.js': viewerFile(
      'text/javascript; charset=utf-8',
      join(viewer, 'swagger-ui-bundle.js'),
    ),
    '/docs/favicon.png': viewerFile('image/png', join(viewer, 'favicon-32x32.png')),
  };
  const routes = Object.entries(pages).map(
    ([path, page]) =>
      [path, readOnlyRoute(path, servePage(page, { policy: POLICY }), options)] as const,
  );
  return Object.fromEntries(routes);
}

/** The published package has the files of the API viewer here, a clone has them as a dependency. */
function viewerFolder(): string {
  const packed = join(import.meta.dir, 'api-viewer');
  if (existsSync(packed)) return packed;
  return dirname(Bun.resolveSync('swagger-ui-dist/package.json', import.meta.dir));
}

function viewerFile(type: string, path: string): Page {
  const tag = createHash('sha256').update(readFileSync(path)).digest('base64url');
  return { type, content: Bun.file(path), tag };
}
