import { type StreamListQuery, streamListQuerySchema } from '../../../protocol/streams.ts';
import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Caller, Credentials } from '../../auth/credentials.ts';
import { idsOf } from '../../http/path-ids.ts';
import { Problem, unauthorized } from '../../http/problem.ts';
import { readQuery } from '../../http/query.ts';
import type { Handlers } from '../../http/route.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import type { StreamDetails } from './stream-details.ts';
import type { streamProcedures } from './streams-sql.ts';
import { streamOf } from './wire.ts';

export interface StreamRoutes {
  readonly store: Pick<Calls<typeof streamProcedures>, 'listStreams'>;
  readonly details: StreamDetails;
  readonly credentials: Credentials;
  /** Where this service is reached, without a trailing slash. */
  readonly originOf: (request: Request) => string;
}

/** The stream list and a stream's detail (SPEC S). */
export function streamHandlers({
  store,
  details,
  credentials,
  originOf,
}: StreamRoutes): Handlers<Pick<typeof viewerApi, 'listStreams' | 'readStream'>> {
  return {
    listStreams: async (request, route) => {
      const caller = await credentials.anybody(request, route);
      const query = readQuery(request, streamListQuerySchema);
      const { count, streams } = await store.listStreams({
        producer: query.producer,
        withUnlisted: isOwner(caller, query.producer),
        limit: query.page_size,
        offset: (query.page - 1) * query.page_size,
      });
      const pages = Math.max(1, Math.ceil(count / query.page_size));
      if (query.page > pages) throw new Problem(404, `The last page is ${pages}.`);
      const origin = originOf(request);
      const page = {
        count,
        next: query.page < pages ? pageUrl(origin, query, query.page + 1) : null,
        previous: query.page > 1 ? pageUrl(origin, query, query.page - 1) : null,
        results: streams.map((row) => streamOf(row, origin)),
      };
      return route.reply(200, page, { 'Cache-Control': 'public, no-cache' });
    },

    readStream: async (request, route) => {
      const caller = await credentials.anybody(request, route);
      const id = idsOf(request).stream_id ?? '';
      if (caller.kind === 'viewer' && caller.viewer.streamId !== id) {
        throw unauthorized('Token', 'The viewer token is of another stream; send none.');
      }
      // Viewers ask again and again; who asks otherwise may just have changed it on another node.
      const detail = await (caller.kind === 'viewer' ? details.read(id) : details.readAnew(id));
      if (!detail) throw new Problem(404, 'There is no stream with this id.');
      const stream = streamOf(detail.stream, originOf(request));
      if (caller.kind !== 'viewer') return route.ok(stream);
      const { quizInterval: quiz_interval, chat } = detail;
      return route.ok({ ...stream, quiz_interval, chat });
    },
  };
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
