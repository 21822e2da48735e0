import type { Calls, Procedures } from './procedure.ts';

/** A store, and the number of its writes by this process. */
export interface CountedStore<P extends Procedures> {
  readonly store: Calls<P>;
  /**
   * Increases before a write is acknowledged, also when the write failed. Data that was read at the
   * current count contains every write that a caller in this process knows of.
   */
  writes(): number;
}

/** Counts the writes of a store. @param except names of writes that are not counted */
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
