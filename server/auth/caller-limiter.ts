import { RateLimited } from '../platform/errors.ts';
import { GroupedLimiter } from '../platform/grouped-limiter.ts';
import { KeyCounts } from '../platform/key-counts.ts';
import { memberUuid, type StudioCaller } from './credentials.ts';

/** Most large operations of one account that run or wait at once; more get 429. */
export const LARGE_OPERATIONS_MAX = 128;
/** Most large operations of the programs of an account, which use its API tokens. */
export const LARGE_OPERATIONS_OF_PROGRAMS_MAX = 64;
/** Most large operations of one member. */
export const LARGE_OPERATIONS_OF_MEMBER_MAX = 32;
/** Most in progress on a node, each of a different account: each has up to 39 MB in memory. */
export const LARGE_OPERATIONS_ACTIVE_MAX = 4;
/** Most that wait on a node; more get 503, those of the account with the most first. */
export const LARGE_OPERATIONS_QUEUED_MAX = 1_024;

/**
 * Work of studio callers (SPEC L-19), one piece of an account at a time. Accounts take turns, and in an account its
 * members and its programs, all programs together: behind 32 operations of a moderator an owner waited 6.6 s.
 */
export class CallerLimiter {
  private readonly limiter: GroupedLimiter;
  private readonly accountCounts = new KeyCounts(LARGE_OPERATIONS_MAX);
  private readonly programCounts = new KeyCounts(LARGE_OPERATIONS_OF_PROGRAMS_MAX);
  private readonly memberCounts = new KeyCounts(LARGE_OPERATIONS_OF_MEMBER_MAX);

  /** @param activeMax most pieces that run at once */
  constructor(activeMax = 1) {
    this.limiter = new GroupedLimiter(
      {
        activeMax,
        activeOfGroupMax: 1,
        queuedMax: LARGE_OPERATIONS_QUEUED_MAX,
        // `withCount` bounds all but the pages of lists whose responses have begun; L-17 bounds those.
        queuedOfMemberMax: LARGE_OPERATIONS_QUEUED_MAX,
      },
      'Too many large requests wait; try again in a second.',
    );
  }

  /**
   * Counts a request until `run` ends.
   * @throws RateLimited when the account or the member has too many
   */
  withCount<T>(caller: StudioCaller, run: () => Promise<T>): Promise<T> {
    const { account, member } = keysOf(caller);
    const counts = member === null ? this.programCounts : this.memberCounts;
    return runCounted(this.accountCounts, account, () =>
      runCounted(counts, member ?? account, run),
    );
  }

  /**
   * Runs a piece of work when it is the turn of its caller.
   * @throws Unavailable when too many wait on the node
   */
  runInTurn<T>(caller: StudioCaller, work: () => Promise<T>): Promise<T> {
    const { account, member } = keysOf(caller);
    return this.limiter.run({ group: account, member: member ?? account }, work);
  }
}

const keysOf = ({ user, actor }: StudioCaller) => ({
  account: user.uuid,
  member: memberUuid(actor),
});

async function runCounted<T>(counts: KeyCounts, key: string, run: () => Promise<T>): Promise<T> {
  if (!counts.add(key)) {
    throw new RateLimited('Too many large requests at once; try again in 5 s.', 5);
  }
  try {
    return await run();
  } finally {
    counts.remove(key);
  }
}
