import { Problem } from './problem.ts';

/**
 * Why a repeat of a request that made a secret gets no answer: the first made one, which nobody can
 * show again.
 */
export function shownOnce(what: string): Problem {
  return new Problem(
    409,
    `This Idempotency-Key made ${what} already, which is shown once; send a new key.`,
  );
}
