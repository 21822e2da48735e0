import { intervalAt } from '../../../protocol/interval.ts';
import type { Target } from '../kill/retrying-client.ts';

export interface RecoveryOptions {
  readonly nodes: readonly Target[];
  readonly apiToken: string;
}

const LOOK_MS = 15;
const GIVE_UP_MS = 15_000;
// A look that takes longer has failed; the next one may be answered.
const PATIENCE_MS = 1_000;

/**
 * Looks whether nodes do everything that they are for: they are ready, count a viewer, take an
 * event and serve the interval of a moment. It uses a stream of its own, apart from the oracle's.
 */
export class Recovery {
  private constructor(
    private readonly options: RecoveryOptions,
    private readonly streamId: string,
    private readonly viewerToken: string,
  ) {}

  static async open(options: RecoveryOptions): Promise<Recovery> {
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
    return new Recovery(options, stream.id, token);
  }

  /** @returns ms from this moment until all of these nodes did everything; more than 15 s: never */
  async rightAgain(nodes: readonly number[]): Promise<number> {
    const fromMs = performance.now();
    const interval = intervalAt(Date.now());
    const times = nodes.map(async (node) => {
      for (const look of this.looks(node, interval)) {
        while (!(await look())) {
          if (performance.now() - fromMs > GIVE_UP_MS) return Number.POSITIVE_INFINITY;
          await Bun.sleep(LOOK_MS);
        }
      }
      return performance.now() - fromMs;
    });
    return Math.max(...(await Promise.all(times)));
  }

  private looks(node: number, interval: number): (() => Promise<boolean>)[] {
    const { streamId } = this;
    const viewer = { Authorization: `Bearer ${this.viewerToken}` };
    const studio = {
      Authorization: `Token ${this.options.apiToken}`,
      'Content-Type': 'application/json',
    };
    const events = `/studio/v1/streams/${streamId}/events`;
    const target = this.options.nodes[node] as Target;
    const look = (path: string, expected: number, init: RequestInit = {}) => {
      return async () => (await statusOf(target, path, init)) === expected;
    };
    return [
      look(`/api/v1/view-counts/${streamId}`, 204, { method: 'POST', headers: viewer }),
      look(`/api/v1/view-counts/${streamId}`, 200, { headers: viewer }),
      look(events, 201, { method: 'POST', headers: studio, body: '{"type":"probe","data":null}' }),
      look(`/api/v1/events-streams/${streamId}?interval=${interval}`, 200, { headers: viewer }),
      look('/readyz', 200),
    ];
  }
}

async function statusOf({ hostname, port }: Target, path: string, init: RequestInit) {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
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
