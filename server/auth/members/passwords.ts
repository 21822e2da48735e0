import { GroupedLimiter } from '../../platform/grouped-limiter.ts';

// The OWASP recommendation for argon2id: 19 MiB and two passes.
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const;
const HASH_PREFIX = `$argon2id$v=19$m=${COST.memoryCost},t=${COST.timeCost},p=1$`;

// Matches no password. Verifying against it takes as long as against a member's hash.
const DUMMY_HASH = `${HASH_PREFIX}Zm91cmJlYXQgaGFzIG5vIHN1Y2ggbWVtYmVyIC0tLS0$bm9ib2R5IGtub3dzIGEgcGFzc3dvcmQgb2YgdGhpcyE`;

// A hash takes 19 MiB and about 50 ms of a core, which viewer requests need too.
const ACTIVE_MAX = 2;
/** Further ones of known clients, and as many of unknown ones. */
const QUEUED_MAX = 32;

/** Whose password is hashed or verified. */
export interface PasswordClient {
  /** Whether it is a known device, has a session, or has a valid link. */
  readonly isKnown: boolean;
  /** Groups take turns. */
  readonly group: string;
}

/**
 * Hashes and verifies passwords off the event loop, a few at once. Known and unknown clients have separate
 * queues, which take turns: in one queue guessers from 800 addresses kept half of the known devices from
 * signing in.
 */
export class Passwords {
  private readonly limiter = new GroupedLimiter(
    // Of either kind, as many tasks as run at once wait for the turn of their kind.
    { activeMax: ACTIVE_MAX, queuedMax: 2 * ACTIVE_MAX, queuedOfMemberMax: QUEUED_MAX },
    'Too many passwords are being checked at once.',
  );

  /**
   * The hash of a password for the database.
   * @throws Unavailable when too many are queued
   */
  hash(password: string, client: PasswordClient): Promise<string> {
    return this.run(client, () => Bun.password.hash(password, COST));
  }

  /**
   * Whether a password matches a hash. Without a hash it is false, after the same work.
   * @throws Unavailable when too many are queued
   */
  async verify(password: string, hash: string | null, client: PasswordClient): Promise<boolean> {
    const matches = await this.run(client, () => Bun.password.verify(password, hash ?? DUMMY_HASH));
    return matches && hash !== null;
  }

  /** Whether a hash has other cost parameters than new ones. */
  isOutdated(hash: string): boolean {
    return !hash.startsWith(HASH_PREFIX);
  }

  private run<T>({ isKnown, group }: PasswordClient, work: () => Promise<T>): Promise<T> {
    const kind = isKnown ? 'known' : 'unknown';
    return this.limiter.run({ group: kind, member: kind, subject: group }, work);
  }
}
