import { intervalAt } from '../../../protocol/interval.ts';
import {
  LIVE_PAST_INTERVALS,
  LIVE_STATE_MS,
  type LiveState,
  liveQuerySchema,
} from '../../../protocol/live.ts';
import type { studioApi } from '../../../protocol/studio-api.ts';
import { type Actor, memberUuid } from '../../auth/credentials.ts';
import { authorizeStudio, type StudioContext } from '../../auth/studio-handler.ts';
import { pathIds, readQuery } from '../../http/parameters.ts';
import type { Handlers } from '../../http/route.ts';
import { DomainError } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import { openEventStream } from '../../realtime/feed/event-stream.ts';
import type { FeedLog } from '../../realtime/feed/feed-log.ts';
import { UnsentBudget } from '../../realtime/feed/unsent-budget.ts';
import type { PresenceRegistry } from '../../realtime/presence/presence-registry.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import { studioQuizOf } from '../quizzes/quiz-wire.ts';
import type { WinnerCode } from '../quizzes/winner-code.ts';
import { studioStreamOf } from '../streams/stream-wire.ts';
import type { streamProcedures } from '../streams/streams-sql.ts';
import { LiveShows, type LiveSnapshot } from './live-shows.ts';
import type { liveProcedures } from './live-sql.ts';
import { ShowStreams } from './show-streams.ts';

export interface LiveDeps {
  readonly context: StudioContext;
  readonly store: Calls<typeof liveProcedures> &
    Pick<Calls<typeof streamProcedures>, 'findOwnStream'>;
  readonly log: FeedLog;
  readonly presence: Pick<PresenceRegistry, 'count'>;
  readonly winnerCode: WinnerCode;
  /** Called when reading a show fails for another reason than an unavailable backend. */
  readonly onError: (error: unknown) => void;
}

/** The live state of shows for the studio (SPEC B). */
export function createLive(deps: LiveDeps) {
  const { context, store, log, presence, winnerCode, onError } = deps;
  const shows = new LiveShows({
    nowMs: () => context.clock.nowMs(),
    read: (id, producer, nowMs) => store.readLiveShow({ id, producer, nowMs }),
    countAnswers: (page) => store.countAnswers(page),
    count: (id) => presence.count(id),
    startPolling: (tick) => {
      const timer = runtime.setInterval(tick, LIVE_STATE_MS);
      return () => runtime.clearTimer(timer);
    },
    onError,
  });
  const showStreams = new ShowStreams(context, shows);
  const unsent = new UnsentBudget();
  const handlers: Handlers<Pick<typeof studioApi, 'watchShow'>> = {
    watchShow: async (request, route) => {
      const { user, actor } = await authorizeStudio(context, request, route);
      const streamId = pathIds(request).stream_id ?? '';
      const { interval } = readQuery(request, liveQuerySchema);
      const last = request.headers.get('last-event-id');
      await store.findOwnStream({ id: streamId, producer: user.uuid });
      const requested = last === null ? interval : Number(last) + 1;
      const from = firstInterval(requested, context.clock.nowMs());
      const origin = context.originOf(request);
      const caller = `${user.uuid} ${memberUuid(actor) ?? ''}`;
      const clientKey = route.clientRateKey(request);
      const client = () => clientKey;
      return showStreams.respond(request, route, {
        streamId,
        producer: user.uuid,
        caller,
        authorizeAgain: async () => {
          const caller = await context.credentials.studio(request, route);
          // Every role may watch: the page learns of a new role from the end of the stream.
          if (memberRole(caller.actor) === memberRole(actor)) return;
          throw new DomainError('unauthorized', 'Your role has changed. Open the stream again.');
        },
        open: (onEnd) =>
          unsent.open({ viewer: caller, client: clientKey, onEnd }, (observer) =>
            openEventStream({ log, streamId, from, client, ...observer }),
          ),
        format: `live ${origin}`,
        stateOf: (moment) => stateOf(moment, origin, winnerCode),
      });
    },
  };
  return {
    handlers,
    /** The open streams of this node, which the presenter display shares. */
    showStreams,
  };
}

/** The role of the member who acts; null: a program. */
const memberRole = (actor: Actor) => (actor.kind === 'member' ? actor.role : null);

/** The first interval to send: the requested one, limited to the recent past and to now. */
function firstInterval(requested: number | undefined, nowMs: number): number {
  const current = intervalAt(nowMs);
  if (requested === undefined || !Number.isSafeInteger(requested)) return current;
  return Math.min(Math.max(requested, current - LIVE_PAST_INTERVALS), current);
}

function stateOf(
  { nowMs, show, count, answerCounts }: LiveSnapshot,
  origin: string,
  winnerCode: WinnerCode,
): LiveState {
  const { stream, quiz, round, source, sourceEndsAt } = show;
  const { revision: chatRevision, ...chat } = show.chat;
  return {
    now: nowMs,
    stream: studioStreamOf(stream, origin),
    count,
    quiz: quiz && studioQuizOf(quiz),
    tally: quiz && answerCounts && choiceCounts(quiz.choices, answerCounts),
    round,
    winners: show.winners.map(({ seat, name }) => ({ code: winnerCode(stream.id, seat), name })),
    source,
    sourceEndsAt,
    rundownRevision: stream.rundownRevision,
    productsRevision: stream.productsRevision,
    chat,
    chatRevision,
  };
}
