import { networkOf } from '../http/address.ts';

/** Connections without a source, by the network of their address. */
export class WaitingConnections<Connection> {
  private readonly networks = new Map<string, Set<Connection>>();
  private readonly networkByConnection = new Map<Connection, string>();

  get size(): number {
    return this.networkByConnection.size;
  }

  /** Adds a connection, unless it waits already. @param rateLimitGroup the rate limit key of its address */
  add(connection: Connection, rateLimitGroup: string): void {
    if (this.networkByConnection.has(connection)) return;
    const network = networkOf(rateLimitGroup) ?? rateLimitGroup;
    const connections = this.networks.get(network) ?? new Set();
    this.networks.set(network, connections.add(connection));
    this.networkByConnection.set(connection, network);
  }

  delete(connection: Connection): void {
    const network = this.networkByConnection.get(connection);
    if (network === undefined) return;
    this.networkByConnection.delete(connection);
    const connections = this.networks.get(network);
    connections?.delete(connection);
    if (connections?.size === 0) this.networks.delete(network);
  }

  /**
   * The connection that makes room for a further one: of the network with the most connections, the one
   * that waits longest. A client with one IPv6 /48 thus replaces its own connections only, not those of a slow sender.
   */
  longestWaiting(): Connection | null {
    let largest: ReadonlySet<Connection> = new Set();
    for (const connections of this.networks.values())
      if (connections.size > largest.size) largest = connections;
    const [first = null] = largest;
    return first;
  }
}
