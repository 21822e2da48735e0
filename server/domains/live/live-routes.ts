import { intervalAt } from '../../../protocol/interval.ts';
import {
  LIVE_PAST_INTERVALS,
  LIVE_STATE_MS,
  type LiveState,
  liveQuerySchema,
} from '../../../protocol/live.ts';
import type { studioApi } from '../../../protocol/studio-api.ts';
import type { Store } from '../../app/procedures.ts';
import { authorizeStudio, type StudioContext } from '../../auth/studio-operation.ts';
import { pathIds } from '../../http/path-ids.ts';
import { readQuery } from '../../http/query.ts';
import type { Handlers } from '../../http/route.ts';
import { openEventStream } from '../../realtime/feed/event-stream.ts';
import type { FeedLog } from '../../realtime/feed/feed-log.ts';
import type { PresenceRegistry } from '../../realtime/presence/presence-registry.ts';
import { presenterHandlers } from '../presenter/presenter-routes.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import { studioQuizOf, studioStreamOf } from '../streams/studio-wire.ts';
import { type LiveMoment, LiveShows } from './live-shows.ts';
import { ShowLines } from './show-lines.ts';

/** What is told of a show for as long as who asked stays. */
export type LiveOperations = Pick<typeof studioApi, 'watchShow' | 'presentShow'>;

export interface LiveRoutes {
  readonly store: Pick<Store, 'findOwnStream' | 'readLiveShow'>;
  readonly log: FeedLog;
  readonly presence: Pick<PresenceRegistry, 'count'>;
  /** A show could not be read, and no backend is unavailable. */
  readonly onDefect: (error: unknown) => void;
}

/** Shows as they go, for those who run them (SPEC B). `endStreams` ends all, for the drain. */
export function liveHandlers(
  gate: StudioContext,
  { store, log, presence, onDefect }: LiveRoutes,
): { handlers: Handlers<LiveOperations>; endStreams: () => void } {
  const shows = new LiveShows({
    nowMs: () => gate.clock.nowMs(),
    read: (id, producer, nowMs) => store.readLiveShow({ id, producer, nowMs }),
    count: (id) => presence.count(id),
    repeat: (tick) => {
      const timer = setInterval(tick, LIVE_STATE_MS);
      return () => clearInterval(timer);
    },
    onDefect,
  });
  const lines = new ShowLines(gate, shows);
  return {
    handlers: {
      watchShow: async (request, route) => {
        const { user } = await authorizeStudio(gate, request, route);
        const streamId = pathIds(request).stream_id ?? '';
        const { interval } = readQuery(request, liveQuerySchema);
        const last = request.headers.get('last-event-id');
        await store.findOwnStream({ id: streamId, producer: user.uuid });
        const from = firstOf(last === null ? interval : Number(last) + 1, gate.clock.nowMs());
        const origin = gate.originOf(request);
        return lines.respond(request, route, {
          streamId,
          producer: user.uuid,
          admitAgain: () => gate.credentials.studio(request, route),
          open: (onEnd) => openEventStream({ log, streamId, from, onEnd }),
          stateOf: (moment) => stateOf(moment, origin),
        });
      },
      ...presenterHandlers(gate, store, lines),
    },
    endStreams: () => lines.end(),
  };
}

/** The first interval to send: the one asked for, unless that is too long ago or still to come. */
function firstOf(asked: number | undefined, nowMs: number): number {
  const current = intervalAt(nowMs);
  if (asked === undefined || !Number.isSafeInteger(asked)) return current;
  return Math.min(Math.max(asked, current - LIVE_PAST_INTERVALS), current);
}

function stateOf({ nowMs, show, count }: LiveMoment, origin: string): LiveState {
  const { stream, quiz, tally, round, source, sourceEndsAt } = show;
  const { revision: chatRevision, ...chat } = show.chat;
  return {
    now: nowMs,
    stream: studioStreamOf(stream, origin),
    count,
    quiz: quiz && studioQuizOf(quiz),
    tally: quiz && tally && choiceCounts(quiz.choices, tally),
    round,
    source,
    sourceEndsAt,
    rundownRevision: stream.rundownRevision,
    chat,
    chatRevision,
  };
}
