import { type ExportKind, exportQuerySchema } from '../../../protocol/studio.ts';
import type { studioApi } from '../../../protocol/studio-api.ts';
import { admit, type StudioGate } from '../../auth/studio-operation.ts';
import { idsOf } from '../../http/path-ids.ts';
import { readQuery } from '../../http/query.ts';
import type { Handler, Handlers } from '../../http/route.ts';
import {
  ANSWERS,
  AUDIENCE,
  CHAT,
  CONTENT_TYPES,
  type ExportTable,
  FEED,
  RESULTS,
  WINNERS,
  written,
} from './export-format.ts';
import {
  answerPages,
  audiencePages,
  chatPages,
  type ExportSource,
  feedPages,
  type Pages,
  resultPages,
  winnerPages,
} from './export-pages.ts';

export type ExportRoutes = Pick<ExportSource, 'store'>;

type Operations = Pick<
  typeof studioApi,
  | 'exportAnswers'
  | 'exportWinners'
  | 'exportFeed'
  | 'exportAudience'
  | 'exportChat'
  | 'exportResults'
>;

/** Exports of a stream (SPEC P-27 … P-30, J-12). */
export function exportHandlers(gate: StudioGate, { store }: ExportRoutes): Handlers<Operations> {
  const handler =
    <Row>(
      kind: ExportKind,
      table: ExportTable<Row>,
      begin: (source: ExportSource) => Promise<Pages<Row>>,
    ): Handler =>
    async (request, route) => {
      const { user } = await admit(gate, request, route);
      const { format } = readQuery(request, exportQuerySchema);
      const streamId = idsOf(request).stream_id ?? '';
      const pages = await begin({
        store,
        streamId,
        producer: user.uuid,
        nowMs: gate.clock.nowMs(),
      });
      const requestId = gate.log.requestId(request);
      const body = streamOf(written(table, format, pages), (error) =>
        gate.log.broken(route.operation, requestId, error),
      );
      return new Response(body, {
        headers: {
          ...route.bare,
          'X-Request-Id': requestId,
          'Content-Type': CONTENT_TYPES[format],
          'Content-Disposition': `attachment; filename="${kind}-${streamId}.${format}"`,
        },
      });
    };
  return {
    exportAnswers: handler('answers', ANSWERS, answerPages),
    exportWinners: handler('winners', WINNERS, winnerPages),
    exportFeed: handler('feed', FEED, feedPages),
    exportAudience: handler('audience', AUDIENCE, audiencePages),
    exportChat: handler('chat', CHAT, chatPages),
    exportResults: handler('results', RESULTS, resultPages),
  };
}

/**
 * Bytes that are made when the client takes them: no page is read before the last one is sent.
 * When a page cannot be read the transfer breaks off, which a client can tell from its end.
 */
function streamOf(
  texts: AsyncGenerator<string>,
  onFailure: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await texts.next();
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        } catch (error) {
          onFailure(error);
          // Without a reason: the runtime would print it to standard error, beside the log.
          controller.error();
        }
      },
      async cancel() {
        await texts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
