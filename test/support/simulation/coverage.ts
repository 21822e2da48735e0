import type { Redis } from '../../../server/storage/redis/redis.ts';

/** The replies of the coordinator, by function: what a node has to do next. */
const DECISIONS: Readonly<Record<string, readonly string[]>> = {
  fourbeat_report: ['early', 'wait', 'seal', 'sealed'],
  fourbeat_claim: ['early', 'wait', 'seal', 'sealed'],
  fourbeat_publish: ['refused', 'published'],
};
const BATCHES = ['rejected', 'accepted', 'lost'];

/** All states that simulations should reach. One that none reaches is a gap of the faults. */
export const STATES = [
  ...Object.entries(DECISIONS)
    .flatMap(([name, decisions]) => decisions.map((decision) => `${name} ${decision}`))
    // A claim is for an interval that has ended.
    .filter((state) => state !== 'fourbeat_claim early'),
  ...BATCHES.map((result) => `batch ${result}`),
  ...['sealed', 'busy', 'conflict', 'other-timeline', 'unavailable'].map(
    (outcome) => `sealInterval ${outcome}`,
  ),
  'readSealedOfAll: a gap of the log was read from the database',
  'a late sealing skipped intervals',
  'lost intervals were written back',
  'a node started again',
];

/** How often simulations reached the states of sealing, takeover and repair. */
export class Coverage {
  readonly counts = new Map<string, number>();

  add(state: string, times = 1): void {
    this.counts.set(state, (this.counts.get(state) ?? 0) + times);
  }

  addAll(other: Coverage): void {
    for (const [state, times] of other.counts) this.add(state, times);
  }

  missing(): string[] {
    return STATES.filter((state) => !this.counts.has(state));
  }

  /** Counts the replies of the coordinator. */
  observeRedis(redis: Redis): Redis {
    return {
      ...redis,
      call: async (call) => {
        const reply = await redis.call(call);
        const decisions = DECISIONS[call.name];
        if (decisions) {
          const code = Array.isArray(reply) ? (reply[0] as number) : (reply as number);
          this.add(`${call.name} ${decisions[code]}`);
        }
        const hasBatch = call.name === 'fourbeat_report' && Number(call.values[5]) > 0;
        if (hasBatch && Array.isArray(reply)) this.add(`batch ${BATCHES[reply[2] as number]}`);
        return reply;
      },
    };
  }

  /** Counts the outcomes of sealing. */
  observeStore<
    Store extends {
      sealInterval(input: { after: number; interval: number }): Promise<{ outcome: string }>;
      readSealedOfAll(input: never): Promise<unknown>;
      restoreSealed(input: never): Promise<boolean>;
    },
  >(store: Store): Store {
    const sealInterval = async (input: { after: number; interval: number }) => {
      try {
        const result = await store.sealInterval(input);
        this.add(`sealInterval ${result.outcome}`);
        const isSkipping = result.outcome === 'sealed' && input.interval > input.after + 1;
        if (isSkipping) this.add('a late sealing skipped intervals');
        return result;
      } catch (error) {
        this.add('sealInterval unavailable');
        throw error;
      }
    };
    const readSealedOfAll = (input: never) => {
      this.add('readSealedOfAll: a gap of the log was read from the database');
      return store.readSealedOfAll(input);
    };
    const restoreSealed = async (input: never) => {
      const isRestored = await store.restoreSealed(input);
      if (isRestored) this.add('lost intervals were written back');
      return isRestored;
    };
    return { ...store, sealInterval, readSealedOfAll, restoreSealed };
  }
}
