import { pageStorage, type Storage } from '../../sdk/environment.ts';
import { QuizGame } from '../../sdk/quiz-game.ts';
import { loadIdentity } from '../identity.ts';

/**
 * The newest win of this viewer that the SDK has stored. The video may not have reached it.
 * @returns the interval of its winners, or of the request for them; 0: none
 */
export function storedWinAt(streamId: string, storage: Storage | null = pageStorage()): number {
  const { id } = loadIdentity(storage);
  const game = new QuizGame(storage?.getItem(`fourbeat:1:${streamId}:${id}`) ?? null);
  const round = game.rounds.findLast(({ hasWon }) => hasWon);
  return round ? (round.published ?? round).interval : 0;
}
