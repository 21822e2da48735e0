import { ConcurrencyLimiter } from './concurrency-limiter.ts';

/** What a hash costs: 19 MiB and two passes, which OWASP recommends for argon2id. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;
const HASH_PREFIX = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$`;

// Of no password: to compare with it takes as long as with a member's.
const DUMMY_HASH = `${HASH_PREFIX}Zm91cmJlYXQgaGFzIG5vIHN1Y2ggbWVtYmVyIC0tLS0$bm9ib2R5IGtub3dzIGEgcGFzc3dvcmQgb2YgdGhpcyE`;

// Each takes a core for about 50 ms, which viewers need as well, and 19 MiB.
const ACTIVE_MAX = 2;
const QUEUED_MAX = 32;

/** Hashes and checks passwords, beside the event loop and a few at once. */
export class Passwords {
  private readonly limiter = new ConcurrencyLimiter(ACTIVE_MAX, QUEUED_MAX);

  /** What the database keeps of a password. @throws Unavailable when too many wait */
  hash(password: string): Promise<string> {
    return this.limiter.run(() => Bun.password.hash(password, COST));
  }

  /**
   * Whether the password is that of the hash. Without a hash it is wrong, after the same work.
   * @throws Unavailable when too many wait
   */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const matches = await this.limiter.run(() => Bun.password.verify(password, hash ?? DUMMY_HASH));
    return matches && hash !== null;
  }

  /** Whether a hash was made at another cost than today's. */
  isOutdated(hash: string): boolean {
    return !hash.startsWith(HASH_PREFIX);
  }
}
