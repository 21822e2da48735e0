import type { MemberRole } from '../../../protocol/members.ts';
import { DomainError } from '../../platform/errors.ts';

// Lifetimes and limits of sessions, members and links (SPEC U).

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;

/** An unused session ends after this time. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** Every session ends after this time. */
export const SESSION_LIFETIME_MS = 30 * DAY_MS;
/** A browser in which nobody signs in for so long is unknown again; browsers keep no cookie longer. */
export const DEVICE_LIFETIME_MS = 365 * DAY_MS;
/** The database records the last use of a session with this resolution. */
export const SESSION_USE_RESOLUTION_MS = 5 * 60_000;
/** Sessions of one member; a new session ends the least recently used one. */
export const SESSIONS_MAX = 20;

/** Most members of an account. */
export const MEMBERS_MAX = 100;
/** Most open invitations of an account. */
export const INVITATIONS_MAX = 100;
/** Lifetime of an invitation. */
export const INVITATION_LIFETIME_MS = 7 * DAY_MS;
/** Lifetime of setup links and of links created on the command line. */
export const OPERATOR_LINK_LIFETIME_MS = DAY_MS;
/** Only this many setup links are valid, the newest: each start of a node creates one. */
export const SETUP_LINKS_MAX = 10;

/** When a session was created and last used, Unix ms. */
export interface SessionTimes {
  readonly created: number;
  readonly seen: number;
}

/** When a session expires unless it is used again, Unix ms. */
export function sessionExpiryMs({ created, seen }: SessionTimes): number {
  return Math.min(seen + SESSION_IDLE_MS, created + SESSION_LIFETIME_MS);
}

export function shouldRecordUse({ seen }: SessionTimes, nowMs: number): boolean {
  return nowMs - seen >= SESSION_USE_RESOLUTION_MS;
}

export interface MemberWithRole {
  readonly uuid: string;
  readonly role: MemberRole;
}

/**
 * Requires that an account keeps an owner (SPEC U-20).
 * @param newRole the role that the member with this uuid gets; null: the member is removed
 * @throws DomainError `conflict` when no owner would be left
 */
export function requireRemainingOwner(
  members: readonly MemberWithRole[],
  uuid: string,
  newRole: MemberRole | null,
): void {
  if (newRole === 'owner') return;
  const isOwner = members.some((member) => member.uuid === uuid && member.role === 'owner');
  const hasOtherOwner = members.some((member) => member.uuid !== uuid && member.role === 'owner');
  if (isOwner && !hasOtherOwner) {
    throw new DomainError(
      'conflict',
      'An account needs an owner. Make another member an owner first.',
    );
  }
}
