import { ConcurrencyLimiter } from '../../platform/concurrency-limiter.ts';

// The OWASP recommendation for argon2id: 19 MiB and two passes.
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;
const HASH_PREFIX = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$`;

// Matches no password. Verifying against it takes as long as against a member's hash.
const DUMMY_HASH = `${HASH_PREFIX}Zm91cmJlYXQgaGFzIG5vIHN1Y2ggbWVtYmVyIC0tLS0$bm9ib2R5IGtub3dzIGEgcGFzc3dvcmQgb2YgdGhpcyE`;

// A hash takes 19 MiB and about 50 ms of a core, which viewer requests need too.
const ACTIVE_MAX = 2;
const QUEUED_MAX = 32;

/** Hashes and verifies passwords off the event loop, a few at once. */
export class Passwords {
  private readonly limiter = new ConcurrencyLimiter(
    ACTIVE_MAX,
    QUEUED_MAX,
    'Too many passwords are being checked at once.',
  );

  /**
   * The hash of a password for the database.
   * @param group whose password it is: groups take turns
   * @throws Unavailable when too many are queued
   */
  hash(password: string, group: string): Promise<string> {
    return this.limiter.run(group, () => Bun.password.hash(password, COST));
  }

  /**
   * Whether a password matches a hash. Without a hash it is false, after the same work.
   * @param group whose password it is: groups take turns
   * @throws Unavailable when too many are queued
   */
  async verify(password: string, hash: string | null, group: string): Promise<boolean> {
    const matches = await this.limiter.run(group, () =>
      Bun.password.verify(password, hash ?? DUMMY_HASH),
    );
    return matches && hash !== null;
  }

  /** Whether a hash has other cost parameters than new ones. */
  isOutdated(hash: string): boolean {
    return !hash.startsWith(HASH_PREFIX);
  }
}
