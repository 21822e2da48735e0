import type { MemoryFeedLog } from './feed-log-memory.ts';
import type { SealedBody } from './sealing-sql.ts';

/** After a restart hours may have passed; readers find those intervals in the database. */
export const APPENDED_MAX = 40;

/** Shows readers everything up to this interval; `bodies` are all that were stored since. */
export function publishSealed(log: MemoryFeedLog, to: number, bodies: readonly SealedBody[]): void {
  if (to - log.sealedTo() > APPENDED_MAX) log.skipTo(to - APPENDED_MAX);
  const byInterval = Map.groupBy(bodies, ({ interval }) => interval);
  for (let interval = log.sealedTo() + 1; interval <= to; interval++) {
    log.append(interval, byInterval.get(interval) ?? []);
  }
}
