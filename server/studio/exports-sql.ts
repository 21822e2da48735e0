import { reading } from '../sql/procedure.ts';
import { ownStream } from '../streams/streams-sql.ts';

/** Where a page of an export begins: after this pair of keys. */
export interface ExportCursor {
  readonly major: number;
  readonly minor: number;
}

export interface ExportPage {
  readonly streamId: string;
  readonly producer: string;
  readonly after: ExportCursor;
  readonly limit: number;
}

/** A recorded answer; `received` in Unix ms. */
export interface ExportedAnswer {
  readonly quizNumber: number;
  readonly quiz: string;
  readonly viewer: string;
  readonly seat: number;
  readonly choice: string;
  readonly correct: boolean;
  readonly received: number;
}

/** A recorded winner; `received` in Unix ms. */
export interface ExportedWinner {
  readonly roundNumber: number;
  readonly round: string;
  readonly viewer: string;
  readonly seat: number;
  readonly received: number;
}

export const exportProcedures = {
  /** A page of a stream's answers, by quiz and seat. */
  exportAnswers: reading(
    async (tx, { streamId, producer, after, limit }: ExportPage): Promise<ExportedAnswer[]> => {
      await ownStream(tx, streamId, producer);
      const rows = await tx.query<ExportedAnswer & { choices: string; index: number; answer: number }>(
        `select q.number as "quizNumber", q.id as quiz, q.choices as choices, q.answer as answer,
                s.viewer as viewer, a.seat as seat, a.choice as "index", a.received as received
         from quizzes q
         join answers a on a.quiz = q.number
         join seats s on s.stream_id = q.stream_id and s.seat = a.seat
         where q.stream_id = $1 and (a.quiz, a.seat) > ($2, $3)
         order by a.quiz, a.seat limit $4`,
        [streamId, after.major, after.minor, limit],
      );
      return rows.map(({ choices, index, answer, ...row }) => ({
        ...row,
        choice: JSON.parse(choices)[index],
        correct: index === answer,
      }));
    },
    { patient: true },
  ),

  /** A page of a stream's winners, by round and seat. */
  exportWinners: reading(
    async (tx, { streamId, producer, after, limit }: ExportPage): Promise<ExportedWinner[]> => {
      await ownStream(tx, streamId, producer);
      const rows = await tx.query<ExportedWinner>(
        `select r.number as "roundNumber", r.id as round, s.viewer as viewer, w.seat as seat,
                w.received as received
         from winners_rounds r
         join winners w on w.round = r.number
         join seats s on s.stream_id = r.stream_id and s.seat = w.seat
         where r.stream_id = $1 and (w.round, w.seat) > ($2, $3)
         order by w.round, w.seat limit $4`,
        [streamId, after.major, after.minor, limit],
      );
      return [...rows];
    },
    { patient: true },
  ),
};
