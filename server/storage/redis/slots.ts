import type { HostPort } from '../../platform/redis-url.ts';

/** A range of slots, `from` and `to` included, and their primary. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly owner: HostPort;
}

export interface ClusterView {
  readonly ranges: readonly SlotRange[];
  /** Increases with every failover: the larger epoch is the newer view. */
  readonly epoch: number;
  /** Why the cluster serves no keys, according to that server; null when it does. */
  readonly error: string | null;
}

/** The name of a server: `host:port`. */
export function serverName({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Parses the replies to `CLUSTER SLOTS` and `CLUSTER INFO`.
 * @param responder the server that replied; a server that does not know its own host omits it
 */
export function parseClusterView(slots: unknown, info: unknown, responder: HostPort): ClusterView {
  const ranges = (slots as [number, number, [unknown, number]][]).map(
    ([from, to, [host, port]]): SlotRange => ({
      from,
      to,
      owner: addressFrom(host, port, responder),
    }),
  );
  const field = (name: string) => new RegExp(`^${name}:(\\w+)`, 'm').exec(String(info))?.[1];
  const isOk = field('cluster_state') === 'ok';
  return {
    ranges,
    epoch: Number(field('cluster_current_epoch') ?? 0),
    error: isOk ? null : 'CLUSTERDOWN The cluster is down',
  };
}

/** The newest view, preferring views without an error; null when there is none. */
export function newestView(views: readonly ClusterView[]): ClusterView | null {
  const rank = (view: ClusterView) => (view.error === null ? 1 : 0);
  const sorted = views.toSorted((a, b) => rank(b) - rank(a) || b.epoch - a.epoch);
  return sorted[0] ?? null;
}

/** Parses a `MOVED` or `ASK` error; null for other errors. */
export function parseRedirection(
  message: string,
  responder: HostPort,
): { slot: number; to: HostPort; isAsking: boolean } | null {
  const match = /^(MOVED|ASK) (\d+) (.*):(\d+)$/.exec(message);
  if (!match) return null;
  const [, kind, slot, host, port] = match;
  return {
    slot: Number(slot),
    to: addressFrom(host, Number(port), responder),
    isAsking: kind === 'ASK',
  };
}

function addressFrom(host: unknown, port: number, responder: HostPort): HostPort {
  const name = host === null || host === undefined ? '' : String(host);
  return { host: name === '' || name === '?' ? responder.host : name, port };
}
