import type { ReplyError } from './connection.ts';
import type { Sentinels } from './sentinels.ts';
import type { ServerConnections } from './server-connections.ts';

/** The server to which a call must be sent instead. */
export interface Redirection {
  readonly to: ServerConnections;
  /** Whether the slot is being moved there, so that the call needs ASKING. */
  readonly isAsking: boolean;
}

/** Maps keys to servers. */
export interface Topology {
  /** Waits for the first connections. @throws Unavailable @throws RedisConfigurationError */
  ready(): Promise<void>;
  /** The server that holds a key. @throws Unavailable when none does */
  serverFor(key: string): ServerConnections;
  /** Updates the mapping from an error reply. @returns the other server to use, or null */
  handleRedirection(error: ReplyError, by: ServerConnections): Redirection | null;
  /** Why some keys cannot be reached; null while all can. */
  unavailableReason(): string | null;
  close(): void;
}

/** A single server holds all keys. */
export function singleTopology(server: ServerConnections): Topology {
  return {
    ready: () => server.ready(),
    serverFor: () => server,
    handleRedirection: () => null,
    unavailableReason: () => server.unavailableReason(),
    close: () => server.close(),
  };
}

/** The primary, as reported by the Sentinels, holds all keys. */
export function sentinelTopology(server: ServerConnections, sentinels: Sentinels): Topology {
  sentinels.watch(() => server.reconnect('the Sentinels report another primary'));
  return {
    ...singleTopology(server),
    close() {
      sentinels.close();
      server.close();
    },
  };
}
