import { intervalAt } from '../../../protocol/interval.ts';
import type { Target } from '../kill/retrying-client.ts';

export interface RecoveryProbeOptions {
  readonly nodes: readonly Target[];
  readonly apiToken: string;
}

const RETRY_MS = 15;
const GIVE_UP_MS = 15_000;
// A request that takes longer has failed and is repeated.
const REQUEST_TIMEOUT_MS = 1_000;

/**
 * Measures how long nodes take to work: be ready, count a viewer, accept an event, serve the
 * current interval. It uses a stream of its own, which the load does not check.
 */
export class RecoveryProbe {
  private constructor(
    private readonly options: RecoveryProbeOptions,
    private readonly streamId: string,
    private readonly viewerToken: string,
  ) {}

  static async open(options: RecoveryProbeOptions): Promise<RecoveryProbe> {
    const [node] = options.nodes as [Target];
    const studio = { Authorization: `Token ${options.apiToken}` };
    const stream = await post<{ id: string }>(
      node,
      '/studio/v1/streams',
      { title: 'Probe' },
      studio,
    );
    const body = { stream_id: stream.id, unique_user_identifier: 'probe' };
    const { token } = await post<{ token: string }>(node, '/api/v1/token', body, {});
    return new RecoveryProbe(options, stream.id, token);
  }

  /** @returns ms from now until all of these nodes work; Infinity after 15 s */
  async recoveryMs(nodes: readonly number[]): Promise<number> {
    const fromMs = performance.now();
    const interval = intervalAt(Date.now());
    const times = nodes.map(async (node) => {
      for (const probe of this.probes(node, interval)) {
        while (!(await probe())) {
          if (performance.now() - fromMs > GIVE_UP_MS) return Number.POSITIVE_INFINITY;
          await Bun.sleep(RETRY_MS);
        }
      }
      return performance.now() - fromMs;
    });
    return Math.max(...(await Promise.all(times)));
  }

  private probes(node: number, interval: number): (() => Promise<boolean>)[] {
    const { streamId } = this;
    const viewer = { Authorization: `Bearer ${this.viewerToken}` };
    const studio = {
      Authorization: `Token ${this.options.apiToken}`,
      'Content-Type': 'application/json',
    };
    const events = `/studio/v1/streams/${streamId}/events`;
    const target = this.options.nodes[node] as Target;
    const probe = (path: string, expected: number, init: RequestInit = {}) => {
      return async () => (await statusOf(target, path, init)) === expected;
    };
    return [
      probe(`/api/v1/view-counts/${streamId}`, 204, { method: 'POST', headers: viewer }),
      probe(`/api/v1/view-counts/${streamId}`, 200, { headers: viewer }),
      probe(events, 201, { method: 'POST', headers: studio, body: '{"type":"probe","data":null}' }),
      probe(`/api/v1/events-streams/${streamId}?interval=${interval}`, 200, { headers: viewer }),
      probe('/readyz', 200),
    ];
  }
}

async function statusOf({ hostname, port }: Target, path: string, init: RequestInit) {
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(`http://${hostname}:${port}${path}`, { ...init, signal });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return null;
  }
}

async function post<T>(
  { hostname, port }: Target,
  path: string,
  body: object,
  headers: Record<string, string>,
): Promise<T> {
  const response = await fetch(`http://${hostname}:${port}${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
