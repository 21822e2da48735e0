import { randomUUID } from 'node:crypto';
import type { MemberRole, Session } from '../../../protocol/members.ts';
import { type Account, expectJson, type Harness } from '../harness/harness.ts';

export const PASSWORD = 'correct horse battery';

/** A studio client with the cookie and CSRF token of a session, as a browser page has them. */
export class UserAgent {
  /** `name=value` of the session cookie; null: none. */
  cookie: string | null = null;
  /** `name=value` of the cookie that every sign-in sets; null: none. */
  device: string | null = null;
  csrf: string | null = null;

  constructor(private readonly url: string) {}

  /** Sends a request as the page would: with the cookie, and the CSRF token for writes. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const cookies = [this.cookie, this.device].filter((cookie) => cookie !== null);
    const response = await fetch(`${this.url}/studio/v1${path}`, {
      method,
      headers: {
        ...(cookies.length > 0 && { Cookie: cookies.join('; ') }),
        ...(this.csrf !== null && method !== 'GET' && { 'X-CSRF-Token': this.csrf }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    this.storeCookie(response);
    return response;
  }

  /** Starts a session with a password or a link. */
  async startSession(path: string, body: object): Promise<Session> {
    const session = await expectJson<Session>(await this.send('POST', path, body), 201);
    this.csrf = session.csrf;
    return session;
  }

  async signIn(email: string, password = PASSWORD): Promise<Session> {
    return this.startSession('/session', { email, password });
  }

  private storeCookie(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      if (/^(__Host-)?fourbeat-device=/.test(pair)) this.device = pair;
      else this.cookie = pair.endsWith('=') ? null : pair;
    }
  }
}

/** A signed-in member. */
export interface SignedIn {
  readonly browser: UserAgent;
  readonly uuid: string;
  readonly email: string;
}

/** The token of a link, from its fragment. */
export function tokenOf(link: string): string {
  return new URL(link).hash.split('=')[1] ?? '';
}

/** Invites a member with the account's API token. @returns the token of the link */
export async function inviteMember(
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

/** Creates a member of an account and signs in. */
export async function newMember(
  harness: Harness,
  role: MemberRole,
  account: Account = harness.account,
  email?: string,
): Promise<SignedIn> {
  const invitation = await inviteMember(harness, role, email, account);
  const browser = new UserAgent(harness.url);
  const { token } = invitation;
  const body = { token, name: `A ${role}`, password: PASSWORD };
  const { member } = await browser.startSession('/invitations/accept', body);
  return { browser, uuid: member.uuid, email: member.email };
}
