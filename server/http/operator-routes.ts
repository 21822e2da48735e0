import { Problem } from './problem.ts';
import { type Reader, type ReadOnlyOptions, type ReadOnlyPath, readOnlyPath } from './read-only.ts';

export interface OperatorOptions extends ReadOnlyOptions {
  /** Why the service should get no requests now, or null. */
  readonly unready: () => string | null;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
}

/** What the operator and the machines around the service ask (SPEC O-9, O-10, O-12), by path. */
export function operatorRoutes(options: OperatorOptions): Record<string, ReadOnlyPath> {
  const { unready, metrics } = options;
  const readers: Record<string, Reader> = {
    '/healthz': (_, bare, requestId) =>
      answered('{"status":"ok"}', 'application/json', bare, requestId),
    '/readyz': (_, bare, requestId) => {
      const reason = unready();
      if (reason !== null) throw new Problem(503, reason, { 'Retry-After': '1' });
      return answered('{"status":"ready"}', 'application/json', bare, requestId);
    },
    '/metrics': async (_, bare, requestId) =>
      answered(await metrics.render(), metrics.contentType, bare, requestId),
  };
  const routes = Object.entries(readers).flatMap(([path, reader]) => {
    const answer = readOnlyPath(path, reader, options);
    return [[path, answer] as const, [`${path}/`, answer] as const];
  });
  return Object.fromEntries(routes);
}

function answered(
  body: string,
  type: string,
  bare: Readonly<Record<string, string>>,
  requestId: string,
): Response {
  return new Response(body, {
    headers: { ...bare, 'Content-Type': type, 'X-Request-Id': requestId },
  });
}
