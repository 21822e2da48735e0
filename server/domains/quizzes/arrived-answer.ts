import type { decideAnswer } from './quiz-rules.ts';

/** An answer on its way to the database: quiz number, seat, choice, Unix ms and interval of arrival. */
export interface ArrivedAnswer {
  readonly quiz: number;
  readonly seat: number;
  readonly choice: number;
  readonly receivedMs: number;
  readonly interval: number;
}

/** What became of an answer: `record` and `same` are a yes, `other` and `closed` a no. */
export type AnswerDecision = ReturnType<typeof decideAnswer>;
