import { loggedEvents, memberOf } from '../../../protocol/chat-messages.ts';
import type { ChatLog, IntervalCount, SentLog } from '../../../protocol/history.ts';
import { HISTORY_INTERVALS, type MessageKind } from '../../../protocol/limits.ts';
import { readSealedBackward } from '../../realtime/feed/sealed-pages.ts';
import { lastOfPage } from '../../realtime/feed/sealed-sql.ts';
import { readProcedure } from '../../storage/sql/procedure.ts';
import { messagesIn, withHiddenFlag } from '../moderation/sent-message-sql.ts';
import { type OwnStream, ownStream } from '../streams/streams-sql.ts';

/*
 * The history of a show is read from its sealed intervals, so that sealing writes nothing for it. SQL
 * conditions match the text of bodies as `composeInterval` writes them. Texts of viewers cannot fake a
 * match: JSON puts a backslash before each quotation mark in them.
 */

interface HistoryPage extends OwnStream {
  /** Search before this interval; null: from the newest. */
  readonly before: number | null;
  readonly limit: number;
}

/** The most that one page examines; 4 MB take at most 50 ms. */
const PAGE_LIMITS = { intervalsMax: HISTORY_INTERVALS, bytesMax: 4 * 1024 * 1024 };

/** SQLite reads whole bodies for their first characters: 2,400 of 84 KB took 0.5 s, in which others had to wait. */
const AUDIENCE_PAGE = { limit: HISTORY_INTERVALS, bytesMax: 4 * 1024 * 1024 };

export interface AudiencePage {
  readonly counts: readonly IntervalCount[];
  /** The first interval of the next page; null after the last page. */
  readonly next: number | null;
}

// The count is the first event. Its JSON and the start of the next event fit into 160 characters.
const HEAD = 'substr(body, 1, 160)';
const COUNT = /"value":(\d+)/;

const startsWith = (type: string) =>
  `'{"interval":' || interval || ',"events":[{"type":"${type}",%'`;
// The boundary of two events; texts of viewers cannot contain it.
const NEXT = '}},{"type":"';

// Searches for what is rare in a body, which is three times as fast as removing what is common.
const HAS_OWN_EVENT = `case
  when ${HEAD} like ${startsWith('view-count')} || '${NEXT}chats",%' then body like '%${NEXT}%${NEXT}%'
  when ${HEAD} like ${startsWith('view-count')} or ${HEAD} like ${startsWith('chats')}
    then body like '%${NEXT}%'
  else true end`;

const HAS_SALES = `(body like '%"purchases":[{"id":%'
  or (body like '%"discounts":%' and body not like '%"discounts":0}%'))`;

/** Matches chat messages of one kind, or of any. Some texts of the producer match as well. */
function hasMessages(kind: MessageKind | null): string {
  return `body like '%${kind === null ? '' : `${memberOf(kind)}":`}[{"id":%'`;
}

export const historyProcedures = {
  /** Events of the producer and of quizzes, and sales, newest first. @throws DomainError `not-found` */
  readSentLog: readProcedure(async (tx, page: HistoryPage): Promise<SentLog> => {
    await ownStream(tx, page.streamId, page.producer);
    return readSealedBackward(tx, {
      ...page,
      ...PAGE_LIMITS,
      condition: `${HAS_OWN_EVENT} or ${HAS_SALES}`,
      itemsOf: ({ interval, events }) =>
        loggedEvents(events).map((event) => ({ interval, ...event })),
    });
  }),

  /** Chat messages and purchases, newest first. @throws DomainError `not-found` */
  readChatLog: readProcedure(
    async (tx, page: HistoryPage & { readonly kind: MessageKind | null }): Promise<ChatLog> => {
      const { streamId, producer, kind } = page;
      await ownStream(tx, streamId, producer);
      const { results, next } = await readSealedBackward(tx, {
        ...page,
        ...PAGE_LIMITS,
        condition: hasMessages(kind),
        itemsOf: (interval) =>
          messagesIn(interval).filter((message) => kind === null || message.kind === kind),
      });
      return { results: await withHiddenFlag(tx, streamId, results), next };
    },
  ),

  /**
   * A page of the viewer counts of intervals between `from` and `to` (inclusive), in order.
   * @throws DomainError `not-found`
   */
  readAudience: readProcedure(
    async (tx, input: OwnStream & { from: number; to: number }): Promise<AudiencePage> => {
      const { streamId, producer, from, to } = input;
      await ownStream(tx, streamId, producer);
      const last = await lastOfPage(tx, { streamId, from, to, ...AUDIENCE_PAGE });
      const rows = await tx.query<{ interval: number; head: string }>(
        `select interval, ${HEAD} as head from sealed_intervals
         where stream_id = $1 and interval between $2 and $3
           and ${HEAD} like ${startsWith('view-count')}
         order by interval`,
        [streamId, from, last],
      );
      const counts = rows.map(({ interval, head }) => ({
        interval: Number(interval),
        count: Number(COUNT.exec(head)?.[1]),
      }));
      return { counts, next: last < to ? last + 1 : null };
    },
  ),
};
