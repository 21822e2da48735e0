import type { ReplyError } from './connection.ts';
import type { Sentinels } from './sentinels.ts';
import type { ServerLinks } from './server-links.ts';

/** Where a call is to be sent instead. */
export interface Redirection {
  readonly to: ServerLinks;
  /** The server has the key only for who asks for it explicitly: its slot is being moved there. */
  readonly isAsking: boolean;
}

/** Which server holds which keys. */
export interface Topology {
  /** Waits for the first connections. @throws Unavailable @throws WrongRedis */
  opened(): Promise<void>;
  /** The server that holds a key. @throws Unavailable when none does */
  holderOf(key: string): ServerLinks;
  /** Learns from an error that a server answered with. @returns where else to go; null: nowhere */
  redirected(error: ReplyError, by: ServerLinks): Redirection | null;
  /** Why some keys cannot be reached; null when all can. */
  unavailable(): string | null;
  close(): void;
}

/** One server holds all keys. */
export function singleTopology(links: ServerLinks): Topology {
  return {
    opened: () => links.opened(),
    holderOf: () => links,
    redirected: () => null,
    unavailable: () => links.unavailable(),
    close: () => links.close(),
  };
}

/** Whichever server the Sentinels say is the primary holds all keys. */
export function watchedTopology(links: ServerLinks, sentinels: Sentinels): Topology {
  sentinels.watch(() => links.leave('the Sentinels have made another server the primary'));
  return {
    ...singleTopology(links),
    close() {
      sentinels.close();
      links.close();
    },
  };
}
