import type { studioApi } from '../../../protocol/studio-api.ts';
import type { StudioContext } from '../../auth/studio-handler.ts';
import { pathIds } from '../../http/parameters.ts';
import type { Handlers } from '../../http/route.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { ShowStreams } from '../live/show-streams.ts';
import type { WinnerCode } from '../quizzes/winner-code.ts';
import type { streamProcedures } from '../streams/streams-sql.ts';
import { presenterStateOf } from './presenter-state.ts';
import { openStateStream } from './state-stream.ts';

export interface PresenterDeps {
  readonly context: StudioContext;
  readonly store: Pick<Calls<typeof streamProcedures>, 'findOwnStream'>;
  /** The open streams of this node (`createLive`). */
  readonly showStreams: ShowStreams;
  readonly winnerCode: WinnerCode;
}

/** The operation that streams a show to the presenter display (SPEC B). */
export function createPresenter({ context, store, showStreams, winnerCode }: PresenterDeps) {
  const { credentials, rate } = context;
  const handlers: Handlers<Pick<typeof studioApi, 'presentShow'>> = {
    presentShow: async (request, route) => {
      const streamId = pathIds(request).stream_id ?? '';
      const authorizeAgain = () => credentials.presenter(request, route, streamId);
      const { producer, rateKey, member } = await authorizeAgain();
      rate.take(rateKey, member);
      await store.findOwnStream({ id: streamId, producer });
      return showStreams.respond(request, route, {
        streamId,
        producer,
        caller: `${rateKey} ${member ?? ''}`,
        authorizeAgain,
        open: openStateStream,
        format: 'present',
        stateOf: (moment) => presenterStateOf(moment, winnerCode),
      });
    },
  };
  return { handlers };
}
