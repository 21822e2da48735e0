import type { Clock } from '../../platform/clock.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { accountProcedures, TokenOwner } from './accounts-sql.ts';
import { hashApiToken, looksLikeApiToken, sameHash } from './api-token.ts';

type ServiceTokenStore = Pick<Calls<typeof accountProcedures>, 'findTokenOwner' | 'touchApiTokens'>;

// A bound on what is remembered between two writes; far more tokens than are used in a minute.
const PENDING_USES_MAX = 10_000;

/** Checks service tokens against the database on every use, so that a revoked one is out at once. */
export class ServiceTokens {
  private pendingUses = new Map<string, number>();

  constructor(
    private readonly store: ServiceTokenStore,
    private readonly clock: Clock,
  ) {}

  /** The account of a token, or null when there is no such token. */
  async findOwner(token: string): Promise<TokenOwner | null> {
    if (!looksLikeApiToken(token)) return null;
    const hash = hashApiToken(token);
    const owner = await this.store.findTokenOwner({ hash });
    if (!owner || !sameHash(owner.hash, hash)) return null;
    if (this.pendingUses.size < PENDING_USES_MAX) this.pendingUses.set(owner.tokenId, this.clock.nowMs());
    return owner;
  }

  /** Writes down when tokens were last used; called every 10 s and at the end. */
  async recordUses(): Promise<void> {
    if (this.pendingUses.size === 0) return;
    const uses = [...this.pendingUses];
    this.pendingUses = new Map();
    await this.store.touchApiTokens({ uses });
  }
}
