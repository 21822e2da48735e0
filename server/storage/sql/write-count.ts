import type { Calls, Procedures } from './procedure.ts';

/** A record, and how many writes of this process it has had. */
export interface CountedStore<P extends Procedures> {
  readonly store: Calls<P>;
  /**
   * Rises before a write is acknowledged, also with one that failed: what was read while it was the
   * same as it is now is not older than any write that somebody here knows of.
   */
  writes(): number;
}

/** @param except names of writes that are not counted */
export function countWrites<P extends Procedures>(
  procedures: P,
  store: Calls<P>,
  except: ReadonlySet<keyof P>,
): CountedStore<P> {
  let writes = 0;
  const counted: Record<string, unknown> = { ...store };
  for (const [name, { access }] of Object.entries(procedures)) {
    if (access === 'read' || except.has(name)) continue;
    const call = store[name] as (...input: unknown[]) => Promise<unknown>;
    counted[name] = (...input: unknown[]) => call(...input).finally(() => writes++);
  }
  return { store: counted as Calls<P>, writes: () => writes };
}
