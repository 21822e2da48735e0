import type { Operation } from '../../protocol/operation.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import type { BanList } from '../auth/viewer-tokens/checked-viewers.ts';
import type { RequestLog } from '../http/request-log.ts';
import { baseHeaders } from '../http/route.ts';
import { allowHeader, problemForError, problemResponse } from '../http/router.ts';
import type { Clock } from '../platform/clock.ts';
import type { OpenStreams } from '../realtime/feed/open-streams.ts';
import type { PresenceRegistry } from '../realtime/presence/presence-registry.ts';
import type {
  GatewayBackend,
  GatewayFeedLog,
  GatewayOperation,
  QuizOperation,
  QuizOperations,
  TokenLookup,
} from './gateway-backend.ts';

export interface LocalGatewayBackendOptions {
  readonly clock: Clock;
  readonly viewerTokens: TokenLookup;
  readonly bans: BanList;
  readonly presence: Pick<PresenceRegistry, 'register'>;
  readonly log: GatewayFeedLog;
  readonly streams: OpenStreams;
  readonly answerService: QuizOperations['service'];
  readonly corsOrigin: string;
  /** Whether a proxy in front of the service hides the addresses of clients. */
  readonly trustProxy: boolean;
  /** An operation without a counter is `null` in the backend. */
  readonly requests: RequestLog;
}

/** The backend of a gateway on the main thread: the service itself. */
export function createLocalGatewayBackend(options: LocalGatewayBackendOptions): GatewayBackend {
  const { clock, viewerTokens, bans, presence, log, streams, requests } = options;
  const heartbeats = createOperation(viewerApi.registerView, requests);
  const feed = createOperation(viewerApi.readInterval, requests);
  const answers = createQuizOperation(viewerApi.answerQuiz, options);
  const winnersReports = createQuizOperation(viewerApi.recordWinner, options);
  return {
    clock,
    tokens: viewerTokens,
    bans,
    heartbeats: heartbeats && { ...heartbeats, presence },
    feed: feed && { ...feed, log, streams, trustProxy: options.trustProxy },
    quizzes: answers &&
      winnersReports && { service: options.answerService, answers, winnersReports },
  };
}

function createOperation(operation: Operation, requests: RequestLog): GatewayOperation | null {
  const counter = requests.findCounter(operation);
  return (
    counter && {
      counter,
      allow: allowHeaderOf(operation),
      logUnavailable(requestId, error) {
        const id = requests.ids.resolve(requestId);
        requests.logRejected(operation, id, 503, error);
        return id;
      },
    }
  );
}

function createQuizOperation(
  operation: Operation,
  { requests, corsOrigin }: Pick<LocalGatewayBackendOptions, 'requests' | 'corsOrigin'>,
): QuizOperation | null {
  const counter = requests.findCounter(operation);
  const allow = allowHeaderOf(operation);
  const base = baseHeaders(allow, corsOrigin);
  return (
    counter && {
      counter,
      allow,
      errorResponse(error, headers) {
        const request = new Request('http://localhost/', { headers });
        const { problem, requestId } = problemForError(error, request, operation, requests);
        return problemResponse(problem, request, base, requestId);
      },
    }
  );
}

function allowHeaderOf({ path }: Operation): string {
  return allowHeader(Object.values(viewerApi).filter((operation) => operation.path === path));
}
