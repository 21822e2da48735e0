import { SeatRate } from '../domains/quizzes/seat-rate.ts';
import type { Rates } from '../platform/config.ts';
import { Rate } from '../platform/rate-limit.ts';

/** The rate limits of the service, each with what it counts (SPEC L). */
export function ratesOf(rates: Rates) {
  return {
    tokens: new Rate('viewer tokens', rates.tokens),
    failedAuth: new Rate('failed authentications from this address', rates.failedAuth),
    answers: new SeatRate('answers of this viewer', rates.answers),
    chat: new Rate('posts of this viewer', rates.chat),
    studio: new Rate('requests of this account', rates.studio),
    signIn: new Rate('tries to sign in from this address', rates.signIn),
    passwords: new Rate('passwords for this e-mail', rates.passwords),
  };
}
