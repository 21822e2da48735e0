import type { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import type { StudioGate } from '../../auth/studio-operation.ts';
import { idsOf } from '../../http/path-ids.ts';
import type { Handlers } from '../../http/route.ts';
import type { ShowLines } from '../live/show-lines.ts';
import { presenterStateOf } from './presenter-state.ts';
import { openStateStream } from './state-stream.ts';

/** A show for the wall behind its host (SPEC B). */
export function presenterHandlers(
  { credentials, rate }: StudioGate,
  store: Pick<Store, 'findOwnStream'>,
  lines: ShowLines,
): Handlers<Pick<typeof studioApi, 'presentShow'>> {
  return {
    presentShow: async (request, route) => {
      const streamId = idsOf(request).stream_id ?? '';
      const admitAgain = () => credentials.presenter(request, route, streamId);
      const { producer, share } = await admitAgain();
      rate.take(share);
      await store.findOwnStream({ id: streamId, producer });
      return lines.respond(request, route, {
        streamId,
        producer,
        admitAgain,
        open: openStateStream,
        stateOf: presenterStateOf,
      });
    },
  };
}
