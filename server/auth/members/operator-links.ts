import { randomBytes, randomUUID } from 'node:crypto';
import type { LinkKind } from '../../../protocol/members.ts';
import type { Store } from '../../app/procedures.ts';
import { linkUrl } from './link-url.ts';
import type { NewLink } from './links-sql.ts';
import { hashSecret, newSecret } from './one-time-secret.ts';

// Links that whoever runs the service makes (SPEC U). `origin` is where browsers reach it, without a
// trailing slash.

/** A link that makes the first account and its owner; null when there is a member already. */
export async function newSetupLink(
  store: Pick<Store, 'keepSetupLink'>,
  origin: string,
  nowMs: number,
): Promise<string | null> {
  const { secret, link } = newLink(nowMs);
  return (await store.keepSetupLink(link)) ? linkUrl(origin, 'setup', secret) : null;
}

/** What a member without a password, or an account without a member, is sent. */
export interface MemberLink {
  readonly email: string;
  readonly kind: LinkKind;
  readonly link: string;
  /** Unix ms. */
  readonly expires: number;
}

/**
 * A link by which the member with this e-mail sets a new password, or else the account with it gets
 * an owner; null when there is neither.
 */
export async function newMemberLink(
  store: Pick<Store, 'linkFor'>,
  email: string,
  origin: string,
  nowMs: number,
): Promise<MemberLink | null> {
  const { secret, link } = newLink(nowMs);
  const made = await store.linkFor({ email, link });
  if (made === null) return null;
  const { kind, expires } = made;
  return { email, kind, link: linkUrl(origin, kind, secret), expires };
}

function newLink(nowMs: number): { secret: string; link: NewLink } {
  const secret = newSecret(randomBytes);
  return { secret, link: { id: randomUUID(), hash: hashSecret(secret), nowMs } };
}
