import { LRUCache } from 'lru-cache';
import { atMostEntries } from '../../platform/cache-size.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { hashSecret, type RandomBytes, SERVICE_TOKEN, sameHash } from '../secrets.ts';
import type { accountProcedures, NewToken, TokenOwner } from './accounts-sql.ts';

/** Characters of a token that are stored in plain text, to recognize it in a list. */
const PREFIX_CHARS = 8;

/** A new service token: `secret` is shown to its owner once, `stored` goes to the database. */
export function newServiceToken(
  id: string,
  name: string,
  randomBytes: RandomBytes,
): { secret: string; stored: NewToken } {
  const secret = SERVICE_TOKEN.create(randomBytes);
  const prefix = secret.slice(0, PREFIX_CHARS);
  return { secret, stored: { id, name, prefix, hash: hashSecret(secret) } };
}

type ServiceTokenStore = Pick<
  Calls<typeof accountProcedures>,
  'findTokenOwner' | 'findUnseenTokenOwner' | 'recordServiceTokenUses'
>;

// Bounds the memory between two writes, 10 s apart; further uses are not recorded.
const PENDING_USES_MAX = 10_000;
const SEEN_MAX = 10_000;

/** Checks service tokens in the database on every use, so that a revocation takes effect at once. */
export class ServiceTokens {
  /** Token id → time of the last use, if the database does not have it yet. */
  private pendingUses = new Map<string, number>();
  /** Hashes of valid tokens: requests with unknown ones must not delay theirs. */
  private readonly seen = new LRUCache<string, true>(atMostEntries(SEEN_MAX));

  constructor(
    private readonly store: ServiceTokenStore,
    private readonly clock: Clock,
  ) {}

  /** The account of a token, or null for an unknown token. */
  async findOwner(token: string): Promise<TokenOwner | null> {
    if (!SERVICE_TOKEN.matches(token)) return null;
    const hash = hashSecret(token);
    const { store, seen } = this;
    const owner = await (seen.get(hash)
      ? store.findTokenOwner({ hash })
      : store.findUnseenTokenOwner({ hash }));
    if (!owner || !sameHash(owner.hash, hash)) return null;
    seen.set(hash, true);
    if (this.pendingUses.size < PENDING_USES_MAX) {
      this.pendingUses.set(owner.tokenId, this.clock.nowMs());
    }
    return owner;
  }

  /**
   * Writes the times of last use to the database. Called every 10 s and when the service stops; the
   * times of a write that failed are written by the next call.
   */
  async recordUses(): Promise<void> {
    if (this.pendingUses.size === 0) return;
    const uses = this.pendingUses;
    this.pendingUses = new Map();
    try {
      await this.store.recordServiceTokenUses({ uses: [...uses] });
    } catch (error) {
      this.pendingUses = new Map([...uses, ...this.pendingUses]);
      throw error;
    }
  }
}
