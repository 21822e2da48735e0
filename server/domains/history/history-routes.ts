import { HISTORY_INTERVALS } from '../../../protocol/history.ts';
import { intervalAt } from '../../../protocol/interval.ts';
import { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import { ofStream, type StudioWrapper } from '../../auth/studio-operation.ts';
import type { Handlers } from '../../http/route.ts';

export interface HistoryRoutes {
  readonly store: Pick<Store, 'readSentLog' | 'readAudience' | 'readChatLog'>;
}

type Operations = Pick<typeof studioApi, 'readSentLog' | 'readAudience' | 'readChatLog'>;

/** What viewers were sent in a show so far (SPEC B). */
export function historyHandlers(
  studio: StudioWrapper,
  { store }: HistoryRoutes,
): Handlers<Operations> {
  return {
    readSentLog: studio(studioApi.readSentLog, (call, _, { before = null, limit }) =>
      store.readSentLog({ ...ofStream(call), before, limit }),
    ),

    readAudience: studio(studioApi.readAudience, async (call, _, { from, to }) => {
      const last = to ?? (from === undefined ? intervalAt(call.nowMs) : from + MOST_AFTER);
      const first = from ?? Math.max(0, last - MOST_AFTER);
      const stretch = { ...ofStream(call), from: first, to: last };
      return { results: await store.readAudience(stretch) };
    }),

    readChatLog: studio(studioApi.readChatLog, (call, _, { before = null, limit, kind = null }) =>
      store.readChatLog({ ...ofStream(call), before, limit, kind }),
    ),
  };
}

const MOST_AFTER = HISTORY_INTERVALS - 1;
