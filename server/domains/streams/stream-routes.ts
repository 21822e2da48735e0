import {
  type Stream,
  type StreamListQuery,
  streamListQuerySchema,
} from '../../../protocol/streams.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Caller, Credentials } from '../../auth/credentials.ts';
import { NetworkLimiter } from '../../http/network-limiter.ts';
import { pathIds, readQuery } from '../../http/parameters.ts';
import type { Handlers } from '../../http/route.ts';
import { DomainError } from '../../platform/errors.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { RecentMessages } from '../chat/recent-messages.ts';
import type { WinnerCode } from '../quizzes/winner-code.ts';
import type { StreamDetailCache } from './stream-detail-cache.ts';
import type { StreamDetailRow } from './stream-detail-sql.ts';
import { streamOf } from './stream-wire.ts';
import type { streamProcedures } from './streams-sql.ts';

/**
 * Reads of lists at once. Anybody may read them, and one of 10,000 streams takes 6 ms: with 500 connections that
 * read it, most token requests and stream reads of all viewers missed their deadline.
 */
const LIST_READS_MAX = 2;
/** At 6 ms a read the last of them waits 0.2 s. */
const LIST_READS_QUEUED_MAX = 64;

export interface StreamRoutes {
  readonly store: Pick<Calls<typeof streamProcedures>, 'listStreams' | 'findStream'>;
  readonly details: StreamDetailCache;
  readonly recentMessages: Pick<RecentMessages, 'json'>;
  readonly credentials: Credentials;
  readonly winnerCode: WinnerCode;
  /** The origin at which the client reaches the service, without a trailing slash. */
  readonly originOf: (request: Request) => string;
}

/** The routes of the stream list and the stream detail (SPEC S). */
export function streamHandlers({
  store,
  details,
  recentMessages,
  credentials,
  winnerCode,
  originOf,
}: StreamRoutes): Handlers<Pick<typeof viewerApi, 'listStreams' | 'readStream'>> {
  const listReads = new NetworkLimiter(
    LIST_READS_MAX,
    LIST_READS_QUEUED_MAX,
    'Too many lists of streams are being read at once.',
  );

  return {
    listStreams: async (request, route) => {
      const caller = await credentials.identifyCaller(request, route);
      const query = readQuery(request, streamListQuerySchema);
      const { count, streams } = await listReads.run(route.clientRateKey(request), () =>
        store.listStreams({
          producer: query.producer,
          withUnlisted: isOwner(caller, query.producer),
          limit: query.page_size,
          offset: (query.page - 1) * query.page_size,
        }),
      );
      const pages = Math.max(1, Math.ceil(count / query.page_size));
      if (query.page > pages) throw new DomainError('not-found', `The last page is ${pages}.`);
      const origin = originOf(request);
      const page = {
        count,
        next: query.page < pages ? pageUrl(origin, query, query.page + 1) : null,
        previous: query.page > 1 ? pageUrl(origin, query, query.page - 1) : null,
        results: streams.map((row) => streamOf(row, origin)),
      };
      return route.respond(200, page, { 'Cache-Control': 'public, no-cache' });
    },

    readStream: async (request, route) => {
      const caller = await credentials.identifyCaller(request, route);
      const id = pathIds(request).stream_id ?? '';
      if (caller.kind === 'viewer' && caller.viewer.streamId !== id) {
        throw new DomainError('unauthorized', 'The viewer token is of another stream; send none.');
      }
      if (caller.kind !== 'viewer') {
        // Not cached: the client may just have changed the stream on another node.
        const stream = await store.findStream({ id });
        if (!stream) throw noSuchStream();
        return route.ok(streamOf(stream, originOf(request)));
      }
      const detail = await details.read(id);
      if (!detail) throw noSuchStream();
      const stream = streamOf(detail.stream, originOf(request));
      const client = route.clientRateKey(request);
      const recent = await recentMessages.json(id, detail.chat.hidden, client);
      const code = winnerCode(id, caller.viewer.seat);
      return route.okJson(viewerStreamJson(stream, detail, code, recent));
    },
  };
}

const noSuchStream = () => new DomainError('not-found', 'There is no stream with this id.');

/** A stream with a viewer token. @param recent JSON, which is the same for all viewers of an interval */
function viewerStreamJson(
  stream: Stream,
  { quizInterval: quiz_interval, product, chat }: StreamDetailRow,
  winner_code: string,
  recent: string,
): string {
  const json = JSON.stringify({ ...stream, quiz_interval, winner_code, product, chat });
  // `chat` is the last member: `recent` goes before the two closing braces.
  return `${json.slice(0, -2)},"recent":${recent}}}`;
}

function isOwner(caller: Caller, producer: string): boolean {
  return caller.kind === 'service' && caller.owner.user.uuid === producer;
}

function pageUrl(origin: string, query: StreamListQuery, page: number): string {
  const params = new URLSearchParams({
    producer: query.producer,
    page: String(page),
    page_size: String(query.page_size),
  });
  return `${origin}/api/v1/streams/?${params}`;
}
