import type { LinkKind } from '../../../protocol/members.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import type { linkProcedures, NewLink } from './links-sql.ts';

type LinkStore = Calls<typeof linkProcedures>;

/**
 * The URL of a one-time link. Its secret is in the fragment, which browsers do not send: it appears in
 * no log and no `Referer`.
 * @param origin the origin at which browsers reach the service, without a trailing slash
 */
export function linkUrl(origin: string, kind: LinkKind | 'setup', secret: string): string {
  return `${origin}/studio/#${kind}=${secret}`;
}

/**
 * Creates a setup link, for the first account and its owner (SPEC U).
 * @returns null when there already is a member
 */
export async function newSetupLink(
  store: Pick<LinkStore, 'keepSetupLink'>,
  origin: string,
  nowMs: number,
): Promise<string | null> {
  const { secret, link } = newLink(nowMs);
  return (await store.keepSetupLink(link)) ? linkUrl(origin, 'setup', secret) : null;
}

/** A link that the operator passes on to a member. */
export interface MemberLink {
  readonly email: string;
  readonly kind: LinkKind;
  readonly link: string;
  /** Unix ms. */
  readonly expires: number;
}

/**
 * Creates a link by which the member with this email sets a new password or, if there is none, by which
 * the account with this email gets an owner.
 * @returns null when there is neither such a member nor such an account
 */
export async function newMemberLink(
  store: Pick<LinkStore, 'createMemberLink'>,
  email: string,
  origin: string,
  nowMs: number,
): Promise<MemberLink | null> {
  const { secret, link } = newLink(nowMs);
  const created = await store.createMemberLink({ email, link });
  if (created === null) return null;
  const { kind, expires } = created;
  return { email, kind, link: linkUrl(origin, kind, secret), expires };
}

function newLink(nowMs: number): { secret: string; link: NewLink } {
  const secret = newSecret(runtime.randomBytes);
  return { secret, link: { id: runtime.newId(), hash: hashSecret(secret), nowMs } };
}
