import { SESSION_LIFETIME_MS } from './member-rules.ts';
import { looksLikeSecret } from './one-time-secret.ts';

/**
 * The cookie of a session. Where browsers come by https its name has the prefix that keeps other
 * hosts and plain http from setting it.
 */
export interface SessionCookie {
  /** The secret in a request; null without one, or with what is none. */
  readSecret(request: Request): string | null;
  /** The value of `Set-Cookie` that keeps a secret. */
  set(secret: string): string;
  /** The value of `Set-Cookie` that takes it away. */
  readonly clear: string;
}

function createCookie(isSecure: boolean): SessionCookie {
  const name = isSecure ? '__Host-fourbeat' : 'fourbeat';
  const serialize = (value: string, maxAge: number) =>
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
    readSecret: (request) => {
      const value = new Bun.CookieMap(request.headers.get('cookie') ?? '').get(name);
      return value !== null && looksLikeSecret(value) ? value : null;
    },
    set: (secret) => serialize(secret, SESSION_LIFETIME_MS / 1_000),
    clear: serialize('', 0),
  };
}

const SECURE = createCookie(true);
const PLAIN = createCookie(false);

/** @param origin where browsers reach the service, such as `https://live.example.org` */
export function sessionCookie(origin: string): SessionCookie {
  return origin.startsWith('https:') ? SECURE : PLAIN;
}
