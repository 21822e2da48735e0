import type { DueWork } from '../../realtime/feed/due-work.ts';
import { STREAM_ENDS_MAX } from '../../realtime/feed/sealing-limits.ts';
import type { WebhookEvent } from '../webhooks/webhook-events.ts';
import { endStreams, SOURCE_LOST } from './streams-sql.ts';

/** The streams that are due longest. */
const first = (column: string, condition: string) =>
  `(select id from streams where ${condition} order by ${column} limit ${STREAM_ENDS_MAX}) due`;

/** Ends streams at their end time (P-14), and streams whose source left too long ago (M-7). */
export const streamDueWork: DueWork<WebhookEvent> = {
  kind: 'end',
  queries: [
    { streamId: 'id', number: '0', from: first('ends_at', 'ends_at is not null and ends_at < $2') },
    { streamId: 'id', number: '0', from: first('source_ends_at', SOURCE_LOST) },
  ],
  run: async (tx, due, { endMs, nowMs }) => {
    const ids = due.map(({ streamId }) => streamId);
    return { results: [], domainEvents: await endStreams(tx, ids, endMs, nowMs) };
  },
};
