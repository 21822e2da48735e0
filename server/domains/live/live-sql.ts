import type { WinnersRound } from '../../../protocol/studio.ts';
import { readSourceState, type SourceState } from '../../media/ingest/ingest-sql.ts';
import { readProcedure, type Tx } from '../../storage/sql/procedure.ts';
import { type RevisedChatState, readChatState } from '../moderation/chat-state-sql.ts';
import { isRoundOnScreen } from '../quizzes/quiz-rules.ts';
import { countsByChoice, latestPublished, type QuizRow } from '../quizzes/quizzes-sql.ts';
import { type NamedSeat, readRoundWinners } from '../quizzes/round-winners-sql.ts';
import { latestRound } from '../quizzes/winners-sql.ts';
import { type OwnId, ownStream, type StreamRow } from '../streams/streams-sql.ts';

export interface LiveShow extends SourceState {
  readonly stream: StreamRow;
  /** The latest published quiz. */
  readonly quiz: QuizRow | null;
  /** The first answers to `quiz`; null unless it is open. */
  readonly firstAnswers: AnswerPage | null;
  readonly round: WinnersRound | null;
  /** The first winners of `round`; empty until it is closed, and once a newer quiz is published. */
  readonly winners: readonly NamedSeat[];
  readonly chat: RevisedChatState;
}

/** Asks for a page of the answers to a quiz, by seat. */
export interface AnswerPageRef {
  /** Of the quiz. */
  readonly number: number;
  /** The number of its choices. */
  readonly choices: number;
  readonly fromSeat: number;
  /** Most answers of the page. */
  readonly limit: number;
}

/** The number of answers for each choice on a page. */
export interface AnswerPage {
  readonly counts: readonly number[];
  /** First seat of the next page; null after the last page. */
  readonly nextSeat: number | null;
}

/** Counted with each state: 0.2 ms. Most quizzes have fewer answers. */
const FIRST_ANSWERS = 1_000;

export const liveProcedures = {
  /** @throws DomainError `not-found` */
  readLiveShow: readProcedure(
    async (tx, { id, producer, nowMs }: OwnId & { nowMs: number }): Promise<LiveShow> => {
      const stream = await ownStream(tx, id, producer);
      const quiz = await latestPublished(tx, id);
      const firstAnswers =
        quiz?.state === 'open'
          ? await countPage(tx, {
              number: quiz.number,
              choices: quiz.choices.length,
              fromSeat: 0,
              limit: FIRST_ANSWERS,
            })
          : null;
      const round = await latestRound(tx, id);
      const hasWinners = round?.state === 'closed' && isRoundOnScreen(round, quiz);
      const winners = hasWinners ? await readRoundWinners(tx, round, nowMs) : [];
      const source = await readSourceState(tx, id, nowMs);
      const chat = await readChatState(tx, id);
      return { stream, quiz, firstAnswers, round, winners, ...source, chat };
    },
  ),

  countAnswers: readProcedure((tx, page: AnswerPageRef) => countPage(tx, page)),
};

async function countPage(
  tx: Tx,
  { number, choices, fromSeat, limit }: AnswerPageRef,
): Promise<AnswerPage> {
  const [row] = await tx.query<{ counts: string; answers: number; last: number | null }>(
    `select ${countsByChoice(choices)} as counts, count(*) as answers, max(seat) as last
     from (select seat, choice from answers
       where quiz = $1 and seat >= $2 order by seat limit $3) page`,
    [number, fromSeat, limit],
  );
  const isLast = Number(row?.answers) < limit;
  const counts = (row?.counts ?? '').split(',').map(Number);
  return { counts, nextSeat: isLast ? null : Number(row?.last) + 1 };
}
