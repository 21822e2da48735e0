import type { Ingest } from '../../../protocol/ingest.ts';
import type { StudioQuiz, StudioStream } from '../../../protocol/studio.ts';
import { type IngestAddresses, ingestUrls } from '../../media/ingest/ingest-addresses.ts';
import type { IngestRow } from '../../media/ingest/ingest-sql.ts';
import { choiceCounts } from '../quizzes/quiz-rules.ts';
import type { QuizRow } from '../quizzes/quizzes-sql.ts';
import type { StreamRow } from './streams-sql.ts';
import { streamOf } from './wire.ts';

/**
 * A stream as its producer sees it (SPEC P-9).
 * @param origin where this service is reached, without a trailing slash
 */
export function studioStreamOf(row: StreamRow, origin: string): StudioStream {
  return {
    ...streamOf(row, origin),
    title: row.title,
    unlisted: row.unlisted,
    latencyAllowance: row.latencyAllowanceMs,
    recording: row.recording,
    created: row.created,
    started: row.started,
    ended: row.ended,
    endsAt: row.endsAt,
    rehearsalOf: row.rehearsalOf,
  };
}

/**
 * How to be the source of a stream (SPEC M-1).
 * @param origin where this service is reached, without a trailing slash
 */
export function ingestOf(
  id: string,
  { key, source }: IngestRow,
  origin: string,
  addresses: IngestAddresses,
): Ingest {
  return { key, ...ingestUrls({ id, key }, origin, addresses), source };
}

/**
 * A quiz as its producer sees it, with its answer, and its counts from the close on (SPEC P-16).
 * @throws RangeError when the row's answer or counts do not fit its choices
 */
export function studioQuizOf(row: QuizRow): StudioQuiz {
  const answer = row.choices[row.answer];
  if (answer === undefined) throw new RangeError(`quiz ${row.id} has no choice ${row.answer}`);
  return {
    id: row.id,
    streamId: row.streamId,
    state: row.state,
    question: row.question,
    choices: [...row.choices],
    answer,
    duration: row.durationMs,
    reveal: row.reveal,
    created: row.created,
    closeInterval: row.closeInterval,
    counts: row.counts === null ? null : choiceCounts(row.choices, row.counts),
  };
}
