import type { viewerApi } from '../../../protocol/viewer-api.ts';
import type { Credentials } from '../../auth/credentials.ts';
import type { StudioHandlerFactory } from '../../auth/studio-handler.ts';
import type { Handlers } from '../../http/route.ts';
import { answerHandlers } from './answer-routes.ts';
import { AnswerService, type AnswerServiceOptions } from './answer-service.ts';
import {
  type StudioQuizOperations,
  type StudioQuizRoutes,
  studioQuizHandlers,
} from './studio-quiz-routes.ts';

export interface QuizDeps extends Omit<AnswerServiceOptions, 'store'> {
  readonly studio: StudioHandlerFactory;
  readonly credentials: Credentials;
  readonly store: StudioQuizRoutes['store'] & AnswerServiceOptions['store'];
  readonly newId: () => string;
}

export interface Quizzes {
  readonly viewerHandlers: Handlers<Pick<typeof viewerApi, 'answerQuiz' | 'recordWinner'>>;
  /** The handlers of the studio API. */
  readonly handlers: Handlers<StudioQuizOperations>;
  /** Takes answers and winner reports; the fast path of the gateway uses it too. */
  readonly answers: AnswerService;
}

/** Quizzes and winners rounds: answers of viewers, and the studio API (SPEC Q, W, P-15 … P-22). */
export function createQuizzes(deps: QuizDeps): Quizzes {
  const answers = new AnswerService(deps);
  return {
    viewerHandlers: answerHandlers({ ...deps, answers }),
    handlers: studioQuizHandlers(deps.studio, deps),
    answers,
  };
}
