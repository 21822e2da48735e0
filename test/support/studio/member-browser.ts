import { randomUUID } from 'node:crypto';
import type { MemberRole, Session } from '../../../protocol/members.ts';
import { type Account, expectJson, type Harness } from '../harness/harness.ts';

export const PASSWORD = 'correct horse battery';

/** A browser with the page of the studio: it keeps the cookie, and what the page knows. */
export class Browser {
  /** `name=value` of the session's cookie; null when there is none. */
  cookie: string | null = null;
  csrf: string | null = null;

  constructor(private readonly url: string) {}

  /** Sends what the page would: with the cookie, and the token with writes. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const response = await fetch(`${this.url}/studio/v1${path}`, {
      method,
      headers: {
        ...(this.cookie !== null && { Cookie: this.cookie }),
        ...(this.csrf !== null && method !== 'GET' && { 'X-CSRF-Token': this.csrf }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    this.keep(response);
    return response;
  }

  /** Signs in by a password or a link. */
  async begin(path: string, body: object): Promise<Session> {
    const session = await expectJson<Session>(await this.send('POST', path, body), 201);
    this.csrf = session.csrf;
    return session;
  }

  async signIn(email: string, password = PASSWORD): Promise<Session> {
    return this.begin('/session', { email, password });
  }

  private keep(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      this.cookie = pair.endsWith('=') ? null : pair;
    }
  }
}

/** A member, signed in in a browser. */
export interface SignedIn {
  readonly browser: Browser;
  readonly uuid: string;
  readonly email: string;
}

/** The secret of a link, which is behind its `#kind=`. */
export function tokenOf(link: string): string {
  return new URL(link).hash.split('=')[1] ?? '';
}

/** Invites somebody, with the account's token. */
export async function invited(
  harness: Harness,
  role: MemberRole,
  email = `${randomUUID()}@example.org`,
  account: Account = harness.account,
): Promise<{ id: string; email: string; token: string }> {
  const { token } = account;
  const response = await harness.studio('POST', '/invitations', { email, role }, { token });
  const { id, link } = await expectJson<{ id: string; link: string }>(response, 201);
  return { id, email, token: tokenOf(link) };
}

/** A new member of an account, signed in. */
export async function newMember(
  harness: Harness,
  role: MemberRole,
  account: Account = harness.account,
  email?: string,
): Promise<SignedIn> {
  const invitation = await invited(harness, role, email, account);
  const browser = new Browser(harness.url);
  const { token } = invitation;
  const body = { token, name: `A ${role}`, password: PASSWORD };
  const { member } = await browser.begin('/invitations/accept', body);
  return { browser, uuid: member.uuid, email: member.email };
}
