import type { MemberRole } from '../../../protocol/members.ts';
import { DomainError } from '../../platform/errors.ts';

// SPEC U: how long things last, how many there may be, and who must stay.

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;

/** A session that nobody uses ends after this long. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** And every session after this long. */
export const SESSION_LIFETIME_MS = 30 * DAY_MS;
/** How exactly the database knows when a session was last used. */
export const SESSION_USE_RESOLUTION_MS = 5 * 60_000;
export const SESSIONS_MAX = 20;

export const MEMBERS_MAX = 100;
export const INVITATIONS_MAX = 100;
export const INVITATION_LIFETIME_MS = 7 * DAY_MS;
/** Of links that this service or its operator makes: setup, and those of the command line. */
export const OPERATOR_LINK_LIFETIME_MS = DAY_MS;
/** Setup links at once, the newest: each start of each node makes one. */
export const SETUP_LINKS_MAX = 10;

/** When a session began and when it was last used, Unix ms. */
export interface SessionTimes {
  readonly created: number;
  readonly seen: number;
}

/** When a session ends unless it is used before. */
export function sessionExpiryMs({ created, seen }: SessionTimes): number {
  return Math.min(seen + SESSION_IDLE_MS, created + SESSION_LIFETIME_MS);
}

/** Whether the use of a session now is worth being recorded. */
export function shouldRecordUse({ seen }: SessionTimes, nowMs: number): boolean {
  return nowMs - seen >= SESSION_USE_RESOLUTION_MS;
}

/** A member as the rule about owners sees it. */
export interface MemberWithRole {
  readonly uuid: string;
  readonly role: MemberRole;
}

/**
 * @param newRole the role that a member of these gets, or null when the member goes
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
    throw new DomainError('conflict', 'An account needs an owner: make somebody else one first.');
  }
}
