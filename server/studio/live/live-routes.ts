import { intervalAt } from '../../../protocol/interval.ts';
import {
  LIVE_PAST_INTERVALS,
  LIVE_STATE_MS,
  type LiveState,
  liveQuerySchema,
} from '../../../protocol/live.ts';
import type { studioApi } from '../../../protocol/studio-api.ts';
import type { Tally } from '../../audience/tally.ts';
import { type EventStream, openEventStream } from '../../feed/event-stream.ts';
import type { FeedLog } from '../../feed/feed-log.ts';
import { idsOf } from '../../http/path-ids.ts';
import { Problem } from '../../http/problem.ts';
import { readQuery } from '../../http/query.ts';
import type { Handlers } from '../../http/route.ts';
import type { TheRecord } from '../../procedures.ts';
import { choiceCounts } from '../../quizzes/quiz-rules.ts';
import { Unavailable } from '../../refusal.ts';
import { admit, type StudioGate } from '../studio-call.ts';
import { studioQuizOf, studioStreamOf } from '../studio-wire.ts';
import { type LiveMoment, LiveShows } from './live-shows.ts';

export interface LiveRoutes {
  readonly record: Pick<TheRecord, 'findOwnStream' | 'readLiveShow'>;
  readonly log: FeedLog;
  readonly tally: Pick<Tally, 'count'>;
  /** A show could not be read, and no backend is away. */
  readonly onDefect: (error: unknown) => void;
}

// One that has a session is looked at again so often: it may have ended, or lost its role.
const ADMIT_AGAIN_MS = 1_000;
const encoder = new TextEncoder();

/** A show as it goes, for those who run it (SPEC B). `endStreams` ends all, for the drain. */
export function liveHandlers(
  gate: StudioGate,
  { record, log, tally, onDefect }: LiveRoutes,
): { handlers: Handlers<Pick<typeof studioApi, 'watchShow'>>; endStreams: () => void } {
  const shows = new LiveShows({
    nowMs: () => gate.clock.nowMs(),
    read: (id, producer, nowMs) => record.readLiveShow({ id, producer, nowMs }),
    count: (id) => tally.count(id),
    repeat: (tick) => {
      const timer = setInterval(tick, LIVE_STATE_MS);
      return () => clearInterval(timer);
    },
    onDefect,
  });
  const open = new Set<EventStream>();
  let isEnded = false;
  return {
    handlers: {
      watchShow: async (request, route) => {
        const { user } = await admit(gate, request, route);
        const streamId = idsOf(request).stream_id ?? '';
        const own = { id: streamId, producer: user.uuid };
        const { interval } = readQuery(request, liveQuerySchema);
        const last = request.headers.get('last-event-id');
        await record.findOwnStream(own);
        if (isEnded) throw new Unavailable('The service is stopping.');
        const headers = {
          ...route.bare,
          'X-Request-Id': gate.log.requestId(request),
          'Content-Type': 'text/event-stream',
        };
        // Whoever asks for the headers alone waits for no end; a body that is none would have a length.
        if (request.method === 'HEAD') return new Response(endingAtOnce(), { headers });
        const origin = gate.originOf(request);
        const stream = openEventStream({
          log,
          streamId,
          from: firstOf(last === null ? interval : Number(last) + 1, gate.clock.nowMs()),
          onEnd: () => {
            open.delete(stream);
            unwatch();
            clearInterval(again);
          },
        });
        const unwatch = shows.watch(streamId, user.uuid, (moment) =>
          stream.send(messageOf(stateOf(moment, origin))),
        );
        const again = setInterval(() => {
          gate.credentials.studio(request, route).catch((error) => {
            // A record that is away says nothing about who may be here.
            if (error instanceof Problem && error.status === 401) stream.end();
          });
        }, ADMIT_AGAIN_MS);
        open.add(stream);
        return new Response(stream.body, { headers });
      },
    },
    endStreams: () => {
      isEnded = true;
      for (const stream of open) stream.end();
    },
  };
}

/** What an event stream begins with, and no more: of it the runtime sends the headers alone. */
function endingAtOnce(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(encoder.encode(': fourbeat\n\n'));
      await Promise.resolve();
      controller.close();
    },
  });
}

/** The first interval to send: the one asked for, unless that is too long ago or still to come. */
function firstOf(asked: number | undefined, nowMs: number): number {
  const current = intervalAt(nowMs);
  if (asked === undefined || !Number.isSafeInteger(asked)) return current;
  return Math.min(Math.max(asked, current - LIVE_PAST_INTERVALS), current);
}

function messageOf(state: LiveState): Uint8Array {
  return encoder.encode(`event: state\ndata: ${JSON.stringify(state)}\n\n`);
}

function stateOf({ nowMs, show, count }: LiveMoment, origin: string): LiveState {
  const { stream, quiz, tally, round, source } = show;
  return {
    now: nowMs,
    stream: studioStreamOf(stream, origin),
    count,
    quiz: quiz && studioQuizOf(quiz),
    tally: quiz && tally && choiceCounts(quiz.choices, tally),
    round,
    source,
  };
}
