import { networkOf } from '../http/address.ts';

/** A connection that waits, and the rate limit key of its address. */
export interface Waiting<Connection> {
  readonly connection: Connection;
  readonly rateLimitGroup: string;
}

/**
 * The connection that makes room for a further one: of the network with the most connections, the one
 * that waits longest. A client with one IPv6 /48 thus replaces its own connections only, not those of a slow sender.
 * @param waiting in the order of arrival
 */
export function longestWaiting<Connection>(
  waiting: Iterable<Waiting<Connection>>,
): Connection | null {
  const networks = Map.groupBy(
    waiting,
    ({ rateLimitGroup }) => networkOf(rateLimitGroup) ?? rateLimitGroup,
  );
  let largest: readonly Waiting<Connection>[] = [];
  for (const network of networks.values()) if (network.length > largest.length) largest = network;
  return largest[0]?.connection ?? null;
}
