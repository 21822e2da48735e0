import {
  WINNERS_CATCH_UP_INTERVALS_MAX,
  WINNERS_DELAY_INTERVALS,
  WINNERS_PROLONGED_INTERVALS,
} from '../../../protocol/limits.ts';
import type { Quiz } from '../../../protocol/quizzes.ts';
import { type DueWork, HAS_NO_BACKLOG, SKIPPED_MIN } from '../../realtime/feed/due-work.ts';
import {
  ALL_CLOSES_MAX,
  ALL_RESULT_BYTES,
  RESULT_OVERHEAD_BYTES,
  ROUND_COUNTS_MAX,
  STREAM_CLOSES_MAX,
} from '../../realtime/feed/sealing-limits.ts';
import type { WebhookEvent } from '../webhooks/webhook-events.ts';
import { closeQuizzes, setPublishedInterval } from './quizzes-sql.ts';
import { closeRounds, prolongRounds, startRoundDelays } from './winners-sql.ts';

/** SQL: the size of the results of a quiz, which contain its choices twice, the answer, and the counts. */
const RESULT_BYTES = `octet_length(question) + 2 * octet_length(choices) + ${RESULT_OVERHEAD_BYTES}`;

/**
 * SQL: due quizzes up to the limits of a sealing. Accounts take turns, and so do the streams of an account: the
 * first due quiz of each comes before the second of another. `all_bytes` adds up the results to this one. Sizes
 * are read after the limit: the first window function would copy the texts of all due quizzes on SQLite, 0.7 s
 * for 12,000 long ones. The account comes from a subquery: with a join, PostgreSQL searched the due quizzes
 * once for each stream while its statistics were those of one stream: 6 s for 3,000.
 */
const DUE_QUIZZES = `(select stream_id, number from
    (select stream_id, number, bytes, sum(bytes) over (order by turn, stream_id) as all_bytes from
      (select stream_id, number, turn, (select ${RESULT_BYTES} from quizzes q
          where q.number = placed.number and q.stream_id = placed.stream_id) as bytes
       from
        (select stream_id, number, row_number() over (
            partition by (select producer from streams owned where owned.id = stream_id)
            order by stream_turn, stream_id) as turn from
          (select stream_id, number,
            row_number() over (partition by stream_id order by close_interval, number) as stream_turn
           from quizzes where state = 'open' and close_interval <= $3 and ${HAS_NO_BACKLOG}) due
         where stream_turn <= ${STREAM_CLOSES_MAX}) placed
       order by turn, stream_id limit ${ALL_CLOSES_MAX}) sized) summed
  where all_bytes - bytes < ${ALL_RESULT_BYTES}) due`;

/** Closes and counts quizzes at their close interval, and stores the interval of their event. */
export const quizDueWork: DueWork<WebhookEvent> = {
  kind: 'quiz',
  queries: [{ streamId: 'stream_id', number: 'number', from: DUE_QUIZZES }],
  run: closeQuizzes,
  afterSeal: async (tx, { published, interval }) => {
    const quizzes = published.filter(({ type }) => type === 'quiz');
    const ids = quizzes.map(({ data }) => (JSON.parse(data) as Quiz).id);
    await setPublishedInterval(tx, ids, interval);
    return null;
  },
};

/** Closes and counts winners rounds, and sets the due interval of those whose request is published. */
export const winnersDueWork: DueWork<WebhookEvent> = {
  kind: 'round',
  queries: [
    {
      streamId: 'stream_id',
      number: 'number',
      from: `(select stream_id, number from winners_rounds
        where state = 'open' and due_interval <= $3 and ${HAS_NO_BACKLOG}
        order by due_interval, number limit ${ROUND_COUNTS_MAX}) due`,
    },
  ],
  onSkip: prolongRounds,
  run: closeRounds,
  afterSeal: async (tx, { published, interval, skipped }) => {
    const requests = published.filter(({ type }) => type === 'request-quiz-winners');
    const streamIds = requests.map(({ streamId }) => streamId);
    await startRoundDelays(tx, streamIds, interval + delayAfter(skipped));
    return null;
  },
};

/** The intervals from a request for winners to its count. @param skipped how many the sealing of the request skipped */
function delayAfter(skipped: number): number {
  if (skipped < SKIPPED_MIN) return WINNERS_DELAY_INTERVALS;
  return WINNERS_PROLONGED_INTERVALS + Math.min(skipped, WINNERS_CATCH_UP_INTERVALS_MAX);
}
