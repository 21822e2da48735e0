/** A sound of a quiz. */
export type Cue = 'opened' | 'second' | 'closed' | 'winners';

/** What a page shows of a quiz show, as far as it has sounds. */
export interface CueMoment {
  /** The quiz on screen; null: none. */
  readonly quizId: string | null;
  /** Time to answer that is left, rounded up; 0: time is up. */
  readonly remainingS: number;
  /** Whether winners are on screen. */
  readonly hasWinners: boolean;
}

/** The last seconds of a quiz, which have a sound each. */
const LAST_SECONDS = 3;

/** The sound of a change; null: none. @param before null when the page has just been loaded */
export function cueOf(before: CueMoment | null, after: CueMoment): Cue | null {
  if (before === null) return null;
  if (after.hasWinners) return before.hasWinners ? null : 'winners';
  if (after.quizId === null || before.hasWinners) return null;
  const { remainingS } = after;
  if (after.quizId !== before.quizId) return remainingS > 0 ? 'opened' : null;
  if (remainingS >= before.remainingS) return null;
  if (remainingS === 0) return 'closed';
  return remainingS <= LAST_SECONDS ? 'second' : null;
}
