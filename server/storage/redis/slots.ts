import type { HostPort } from '../../platform/redis-url.ts';

/** A run of slots and the primary that has them; `from` and `to` are the first and the last. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly owner: HostPort;
}

/** What a server of a cluster says about who has which slots. */
export interface ClusterView {
  readonly ranges: readonly SlotRange[];
  /** Grows with every failover: of two views, the later has the larger. */
  readonly epoch: number;
  /** Why the cluster serves no keys, by that server's view; null when it does. */
  readonly trouble: string | null;
}

/** `host:port`, which names a server of the cluster. */
export function nameOf({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Reads the answers to `CLUSTER SLOTS` and `CLUSTER INFO`.
 * @param asked the server that answered: one that does not know its own host says none
 */
export function clusterView(slots: unknown, info: unknown, asked: HostPort): ClusterView {
  const ranges = (slots as [number, number, [unknown, number]][]).map(
    ([from, to, [host, port]]): SlotRange => ({ from, to, owner: addressOf(host, port, asked) }),
  );
  const field = (name: string) => new RegExp(`^${name}:(\\w+)`, 'm').exec(String(info))?.[1];
  const isWell = field('cluster_state') === 'ok';
  return {
    ranges,
    epoch: Number(field('cluster_current_epoch') ?? 0),
    trouble: isWell ? null : 'CLUSTERDOWN The cluster is down',
  };
}

/** The newest of the views, one that is well before one that is not; null when there is none. */
export function newestView(views: readonly ClusterView[]): ClusterView | null {
  const rank = (view: ClusterView) => (view.trouble === null ? 1 : 0);
  const sorted = views.toSorted((a, b) => rank(b) - rank(a) || b.epoch - a.epoch);
  return sorted[0] ?? null;
}

/** What `MOVED` and `ASK` say; null for other errors. */
export function parseRedirection(
  message: string,
  asked: HostPort,
): { slot: number; to: HostPort; isAsking: boolean } | null {
  const match = /^(MOVED|ASK) (\d+) (.*):(\d+)$/.exec(message);
  if (!match) return null;
  const [, kind, slot, host, port] = match;
  return {
    slot: Number(slot),
    to: addressOf(host, Number(port), asked),
    isAsking: kind === 'ASK',
  };
}

function addressOf(host: unknown, port: number, asked: HostPort): HostPort {
  const name = host === null || host === undefined ? '' : String(host);
  return { host: name === '' || name === '?' ? asked.host : name, port };
}
