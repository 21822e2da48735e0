import type { IntervalCount } from '../../../protocol/history.ts';
import { intervalAt } from '../../../protocol/interval.ts';
import { HISTORY_INTERVALS } from '../../../protocol/limits.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import {
  ownStreamInput,
  type StudioContext,
  type StudioHandlerFactory,
} from '../../auth/studio-handler.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { AudiencePage, historyProcedures } from './history-sql.ts';

export interface HistoryDeps {
  readonly studio: StudioHandlerFactory;
  readonly context: Pick<StudioContext, 'largeOperations'>;
  readonly store: Calls<typeof historyProcedures>;
}

/** Operations of the studio API on the history of a show: events, audience and chat (SPEC B). */
export function createHistory({ studio, context: { largeOperations }, store }: HistoryDeps) {
  const handlers = {
    readSentLog: studio(
      studioApi.readSentLog,
      (call, _, { before = null, limit }) =>
        store.readSentLog({ ...ownStreamInput(call), before, limit }),
      { isLarge: true },
    ),

    readAudience: studio(studioApi.readAudience, (call, _, { from, to }) => {
      const last = to ?? (from === undefined ? intervalAt(call.nowMs) : from + INTERVALS_AFTER_MAX);
      const first = from ?? Math.max(0, last - INTERVALS_AFTER_MAX);
      return largeOperations.run(call, async (step) => {
        const results: IntervalCount[] = [];
        for (let next: number | null = first; next !== null; ) {
          const range = { from: next, to: last };
          const page: AudiencePage = await step(() =>
            store.readAudience({ ...ownStreamInput(call), ...range }),
          );
          results.push(...page.counts);
          next = page.next;
        }
        return { results };
      });
    }),

    readChatLog: studio(
      studioApi.readChatLog,
      (call, _, { before = null, limit, kind = null }) =>
        store.readChatLog({ ...ownStreamInput(call), before, limit, kind }),
      { isLarge: true },
    ),
  };
  return { handlers };
}

/** One response covers at most this many intervals after the first. */
const INTERVALS_AFTER_MAX = HISTORY_INTERVALS - 1;
