import type { LinkKind } from '../../../protocol/members.ts';
import { runtime } from '../../platform/runtime.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { hashSecret, newSecret } from '../secrets.ts';
import type { linkProcedures, NewLink, OperatorLink } from './links-sql.ts';

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
export interface MemberLink extends OperatorLink {
  readonly email: string;
  readonly link: string;
}

/**
 * Creates a link by which the member with this email sets a new password or, if there is none, by which
 * an account gets an owner.
 * @param account uuid or email of the account; null: the one with this email, else the member's
 * @returns null when there is neither such a member nor such an account
 * @throws DomainError as `createMemberLink`
 */
export async function newMemberLink(
  store: Pick<LinkStore, 'createMemberLink'>,
  { email, account }: { email: string; account: string | null },
  origin: string,
  nowMs: number,
): Promise<MemberLink | null> {
  const { secret, link } = newLink(nowMs);
  const created = await store.createMemberLink({ email, account, link });
  return created && { email, ...created, link: linkUrl(origin, created.kind, secret) };
}

function newLink(nowMs: number): { secret: string; link: NewLink } {
  const secret = newSecret(runtime.randomBytes);
  return { secret, link: { id: runtime.newId(), hash: hashSecret(secret), nowMs } };
}
