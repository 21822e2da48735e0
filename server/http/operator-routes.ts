import { type MetricsAccessOptions, requireMetricsAccess } from './metrics-access.ts';
import { Problem } from './problem.ts';
import {
  type ReadHandler,
  type ReadOnlyOptions,
  type ReadOnlyRoute,
  readOnlyRoute,
} from './read-only-route.ts';

export interface OperatorOptions extends ReadOnlyOptions {
  /** Why the service is not ready for requests; null when it is. */
  readonly unreadyReason: () => string | null;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
  readonly metricsAccess: MetricsAccessOptions;
}

/** Health, readiness and metrics routes for the operator (SPEC O-9, O-10, O-12), by path. */
export function operatorRoutes(options: OperatorOptions): Record<string, ReadOnlyRoute> {
  const { unreadyReason, metrics, metricsAccess } = options;
  const readers: Record<string, ReadHandler> = {
    '/healthz': (_, headers, requestId) =>
      respond('{"status":"ok"}', 'application/json', headers, requestId),
    '/readyz': (_, headers, requestId) => {
      const reason = unreadyReason();
      if (reason !== null) throw new Problem(503, reason, { 'Retry-After': '1' });
      return respond('{"status":"ready"}', 'application/json', headers, requestId);
    },
    '/metrics': async (request, headers, requestId) => {
      requireMetricsAccess(request, metricsAccess);
      return respond(await metrics.render(), metrics.contentType, headers, requestId);
    },
  };
  const routes: Record<string, ReadOnlyRoute> = {};
  for (const [path, reader] of Object.entries(readers)) {
    routes[path] = readOnlyRoute(path, reader, options);
    routes[`${path}/`] = routes[path];
  }
  return routes;
}

function respond(
  body: string,
  type: string,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): Response {
  return new Response(body, {
    headers: { ...headers, 'Content-Type': type, 'X-Request-Id': requestId },
  });
}
