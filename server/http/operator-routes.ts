import { Problem } from './problem.ts';
import { baseHeaders } from './route.ts';
import { problemResponse } from './router.ts';

export interface OperatorOptions {
  /** Why the service should get no requests now, or null. */
  readonly unready: () => string | null;
  readonly metrics: { readonly contentType: string; render(): Promise<string> };
  /** Value of `Access-Control-Allow-Origin`. */
  readonly corsOrigin: string;
  readonly requestIdOf: (request: Request) => string;
}

type Answer = (request: Request) => Response | Promise<Response>;

const ALLOW = 'GET, HEAD, OPTIONS';

/** What the operator and the machines around the service ask (SPEC O-9, O-10, O-12), by path. */
export function operatorRoutes(options: OperatorOptions): Record<string, Answer> {
  const { unready, metrics, corsOrigin, requestIdOf } = options;
  const bare = baseHeaders(ALLOW, corsOrigin);

  const answered = (request: Request, body: string, type: string) =>
    new Response(body, {
      headers: { ...bare, 'Content-Type': type, 'X-Request-Id': requestIdOf(request) },
    });

  const reading =
    (read: Answer): Answer =>
    (request) => {
      if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: bare });
      if (request.method === 'GET' || request.method === 'HEAD') return read(request);
      const problem = new Problem(405, `This path takes ${ALLOW}.`);
      return problemResponse(problem, request, bare, requestIdOf(request));
    };

  const health = reading((request) => answered(request, '{"status":"ok"}', 'application/json'));
  const ready = reading((request) => {
    const reason = unready();
    if (reason === null) return answered(request, '{"status":"ready"}', 'application/json');
    const problem = new Problem(503, reason, { 'Retry-After': '1' });
    return problemResponse(problem, request, bare, requestIdOf(request));
  });
  const page = reading(async (request) =>
    answered(request, await metrics.render(), metrics.contentType),
  );
  return {
    '/healthz': health,
    '/healthz/': health,
    '/readyz': ready,
    '/readyz/': ready,
    '/metrics': page,
    '/metrics/': page,
  };
}
