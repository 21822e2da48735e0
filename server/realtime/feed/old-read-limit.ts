import { networkOf } from '../../http/address.ts';
import { Unavailable } from '../../platform/errors.ts';
import { KeyCounts } from '../../platform/key-counts.ts';

/**
 * Most pages of old intervals that one network (IPv6 /48, IPv4 /16) reads at once. 600 connections of one
 * viewer filled the queue of the node, and all reads of others got a 503.
 */
export const OLD_READS_MAX = 32;

/**
 * Returns the rate limit key of the client that reads; null: unknown, not limited. Called only before a read of
 * the database.
 */
export type ReadClient = () => string | null;

/** Limits the reads of old intervals of each network. Reads without a client are not limited. */
export class OldReadLimit {
  private readonly counts = new KeyCounts(OLD_READS_MAX);

  /**
   * Counts a read.
   * @returns a function to call when the read has ended
   * @throws Unavailable when the network has too many
   */
  begin(client: string | null): () => void {
    if (client === null) return () => {};
    const network = networkOf(client) ?? client;
    if (!this.counts.add(network)) {
      throw new Unavailable(
        'Your network reads too many older intervals at once; try again in a second.',
      );
    }
    return () => this.counts.remove(network);
  }
}
