import type { Credentials } from '../../auth/credentials.ts';
import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { answerHandlers } from './answer-routes.ts';
import { AnswerService, type AnswerServiceOptions } from './answer-service.ts';
import { type QuizNumberStore, QuizNumbers } from './quiz-numbers.ts';
import { type StudioQuizRoutes, studioQuizHandlers } from './studio-quiz-routes.ts';
import {
  ownContactHandlers,
  type WinnerContactDeps,
  winnerContactHandlers,
} from './winner-contact-routes.ts';

export interface QuizDeps extends Omit<AnswerServiceOptions, 'store'> {
  readonly studio: StudioHandlerFactory;
  readonly credentials: Credentials;
  readonly store: StudioQuizRoutes['store'] &
    AnswerServiceOptions['store'] &
    QuizNumberStore &
    WinnerContactDeps['store'];
  readonly winnerCode: WinnerContactDeps['winnerCode'];
  readonly largeOperations: WinnerContactDeps['largeOperations'];
  readonly newId: () => string;
}

/** Quizzes and winners rounds: answers of viewers, and the studio API (SPEC Q, W, P-15 … P-22). */
export function createQuizzes(deps: QuizDeps) {
  const answers = new AnswerService(deps);
  return {
    viewerHandlers: {
      ...answerHandlers({ ...deps, answers }),
      ...ownContactHandlers({ ...deps, answers }),
    },
    handlers: {
      ...studioQuizHandlers(deps.studio, deps),
      ...winnerContactHandlers(deps.studio, deps),
    },
    /** The fast path of the gateway uses it too. */
    answers,
    numbers: new QuizNumbers(deps.store),
  };
}
