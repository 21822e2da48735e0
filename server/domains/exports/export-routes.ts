import { type ExportKind, exportQuerySchema } from '../../../protocol/studio.ts';
import { EXPORT_BYTES } from '../../auth/large-responses.ts';
import { authorizeStudio, type StudioContext } from '../../auth/studio-handler.ts';
import { pathIds, readQuery } from '../../http/parameters.ts';
import type { Handler } from '../../http/route.ts';
import { attachmentHeader } from './export-file-name.ts';
import {
  ANSWERS,
  AUDIENCE,
  CHAT,
  CONTACTS,
  CONTENT_TYPES,
  type ExportTable,
  FEED,
  RESULTS,
  serializePages,
  WINNERS,
} from './export-format.ts';
import {
  answerPages,
  audiencePages,
  chatPages,
  contactPages,
  type ExportSource,
  feedPages,
  type Pages,
  resultPages,
  winnerPages,
} from './export-pages.ts';

export interface ExportDeps extends Pick<ExportSource, 'store' | 'winnerCode'> {
  readonly context: StudioContext;
}

/** Operations of the studio API that export a stream's data (SPEC P-27 … P-30, J-12). */
export function createExports({ context, store, winnerCode }: ExportDeps) {
  const handler =
    <Row extends object>(
      kind: ExportKind,
      table: ExportTable<Row>,
      openPages: (source: ExportSource) => Promise<Pages<Row>>,
    ): Handler =>
    async (request, route) => {
      const caller = await authorizeStudio(context, request, route);
      const producer = caller.user.uuid;
      const { format } = readQuery(request, exportQuerySchema);
      const streamId = pathIds(request).stream_id ?? '';
      const nowMs = context.clock.nowMs();
      let bytes = EXPORT_BYTES;
      const onKept = (keptBytes: number) => {
        bytes += keptBytes;
      };
      // One operation: no other of the account begins between its steps.
      const { pages, stream } = await context.largeOperations.run(caller, async (step) => ({
        pages: await openPages({ store, streamId, producer, nowMs, winnerCode, step, onKept }),
        stream: await step(() => store.findOwnStream({ id: streamId, producer })),
      }));
      // Operations of other accounts ran meanwhile.
      context.large.checkLarge(caller);
      const texts = context.exports.open(caller, request, serializePages(table, format, pages));
      const body = context.large.body({ request, route, caller }, texts, bytes);
      return new Response(body, {
        headers: {
          ...route.headers,
          'X-Request-Id': context.log.requestId(request),
          'Content-Type': CONTENT_TYPES[format],
          'Content-Disposition': attachmentHeader(stream, kind, format),
        },
      });
    };
  const handlers = {
    exportAnswers: handler('answers', ANSWERS, answerPages),
    exportWinners: handler('winners', WINNERS, winnerPages),
    exportContacts: handler('contacts', CONTACTS, contactPages),
    exportFeed: handler('feed', FEED, feedPages),
    exportAudience: handler('audience', AUDIENCE, audiencePages),
    exportChat: handler('chat', CHAT, chatPages),
    exportResults: handler('results', RESULTS, resultPages),
  };
  return { handlers };
}
