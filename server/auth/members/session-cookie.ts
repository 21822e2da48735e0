import { SESSION_LIFE_MS } from './member-rules.ts';
import { looksLikeSecret } from './one-time-secret.ts';

/**
 * The cookie of a session. Where browsers come by https its name has the prefix that keeps other
 * hosts and plain http from setting it.
 */
export interface SessionCookie {
  /** The secret in a request; null without one, or with what is none. */
  secretIn(request: Request): string | null;
  /** The value of `Set-Cookie` that keeps a secret. */
  keep(secret: string): string;
  /** The value of `Set-Cookie` that takes it away. */
  readonly drop: string;
}

function cookieOf(isSecure: boolean): SessionCookie {
  const name = isSecure ? '__Host-fourbeat' : 'fourbeat';
  const written = (value: string, maxAge: number) =>
    new Bun.Cookie({
      name,
      value,
      maxAge,
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure: isSecure,
    }).toString();
  return {
    secretIn: (request) => {
      const value = new Bun.CookieMap(request.headers.get('cookie') ?? '').get(name);
      return value !== null && looksLikeSecret(value) ? value : null;
    },
    keep: (secret) => written(secret, SESSION_LIFE_MS / 1_000),
    drop: written('', 0),
  };
}

const SECURE = cookieOf(true);
const PLAIN = cookieOf(false);

/** @param origin where browsers reach the service, such as `https://live.example.org` */
export function sessionCookie(origin: string): SessionCookie {
  return origin.startsWith('https:') ? SECURE : PLAIN;
}
