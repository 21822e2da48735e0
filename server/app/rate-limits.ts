import type { Rates } from '../platform/config.ts';
import { KeyWindows, type RateLimit, RateLimiter, SeatWindows } from '../platform/rate-limiter.ts';

/** The rate limiters of the service, each with what it counts (SPEC L). */
export function ratesOf(rates: Rates) {
  const byKey = (what: string, limit: RateLimit) => new RateLimiter(what, new KeyWindows(limit));
  return {
    tokens: byKey('viewer tokens', rates.tokens),
    failedAuth: byKey('failed authentications from this address', rates.failedAuth),
    answers: new RateLimiter('answers of this viewer', new SeatWindows(rates.answers)),
    chat: byKey('posts of this viewer', rates.chat),
    studio: byKey('requests of this account', rates.studio),
    signIn: byKey('tries to sign in from this address', rates.signIn),
    passwords: byKey('passwords for this email', rates.passwords),
  };
}
