import type { Operation } from '../../protocol/operation.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import type { ViewerTokens } from '../auth/viewer-tokens/viewer-tokens.ts';
import type { ChatRooms } from '../domains/moderation/chat-rooms.ts';
import type { AnswerService } from '../domains/quizzes/answer-service.ts';
import type { RequestLog } from '../http/request-log.ts';
import { baseHeaders } from '../http/route.ts';
import { allowHeader, problemResponse, problemForError } from '../http/router.ts';
import type { Clock } from '../platform/clock.ts';
import type { Unavailable } from '../platform/errors.ts';
import type { FeedLog } from '../realtime/feed/feed-log.ts';
import type { OpenStreams } from '../realtime/feed/open-streams.ts';
import type { PresenceRegistry } from '../realtime/presence/presence-registry.ts';
import type { FrontOperation, FrontQuizzesOf, GatewayBackend } from './gateway-backend.ts';

export interface LocalGatewayBackendOptions {
  readonly clock: Clock;
  readonly viewerTokens: ViewerTokens;
  readonly rooms: Pick<ChatRooms, 'isBanned'>;
  readonly presence: Pick<PresenceRegistry, 'register'>;
  readonly log: FeedLog;
  readonly streams: OpenStreams;
  readonly answerDesk: AnswerService;
  readonly corsOrigin: string;
  /** Has a counter for each operation that is answered here. */
  readonly requests: RequestLog;
}

/** What a front needs, in the thread that has all of it. */
export function createLocalGatewayBackend(parts: LocalGatewayBackendOptions): GatewayBackend {
  const { clock, viewerTokens, rooms, presence, log, streams, requests } = parts;
  const heartbeats = operationOf(viewerApi.registerView, requests);
  const feed = operationOf(viewerApi.readInterval, requests);
  const answers = quizzesOf(viewerApi.answerQuiz, parts);
  const reports = quizzesOf(viewerApi.recordWinner, parts);
  return {
    nowMs: () => clock.nowMs(),
    tokens: {
      known: (token) => viewerTokens.seen(token),
      find: (...token) => viewerTokens.find(...token),
      check: (token) => viewerTokens.check(token),
      isBanned: (viewer) => rooms.isBanned(viewer),
    },
    heartbeats: heartbeats && {
      ...heartbeats,
      register: (streamId, seat, nowMs) => presence.register(streamId, seat, nowMs),
    },
    feed: feed && { ...feed, log, streams },
    quizzes: answers && reports && { desk: parts.answerDesk, answers, reports },
  };
}

function operationOf(operation: Operation, requests: RequestLog): FrontOperation | null {
  const counter = requests.findCounter(operation);
  const refused = (given: string | null, error: Unavailable) => {
    const id = requests.ids.resolve(given);
    requests.logRejected(operation, id, 503, error);
    return id;
  };
  return counter && { counter, allow: allowed(operation), refused };
}

function quizzesOf(
  operation: Operation,
  { requests, corsOrigin }: Pick<LocalGatewayBackendOptions, 'requests' | 'corsOrigin'>,
): FrontQuizzesOf | null {
  const counter = requests.findCounter(operation);
  const allow = allowed(operation);
  const base = baseHeaders(allow, corsOrigin);
  const refusal = (error: unknown, headers: Readonly<Record<string, string>>) => {
    const request = new Request('http://localhost/', { headers });
    const { problem, requestId } = problemForError(error, request, operation, requests);
    return problemResponse(problem, request, base, requestId);
  };
  return counter && { counter, allow, refusal };
}

function allowed({ path }: Operation): string {
  return allowHeader(Object.values(viewerApi).filter((operation) => operation.path === path));
}
