import { isSecretFormat } from '../secrets.ts';
import { SESSION_LIFETIME_MS } from './member-rules.ts';

/**
 * The session cookie. Over https its name has the `__Host-` prefix, which prevents other hosts and plain
 * http from setting it.
 */
export interface SessionCookie {
  /** The secret in a request's cookie; null for a missing or malformed one. */
  readSecret(request: Request): string | null;
  /** The `Set-Cookie` value that stores a secret. */
  set(secret: string): string;
  /** The `Set-Cookie` value that deletes the cookie. */
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
      return value !== null && isSecretFormat(value) ? value : null;
    },
    set: (secret) => serialize(secret, SESSION_LIFETIME_MS / 1_000),
    clear: serialize('', 0),
  };
}

const SECURE = createCookie(true);
const INSECURE = createCookie(false);

/** @param origin the origin at which browsers reach the service, such as `https://live.example.org` */
export function sessionCookie(origin: string): SessionCookie {
  return origin.startsWith('https:') ? SECURE : INSECURE;
}
