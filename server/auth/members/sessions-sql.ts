import type { User } from '../../../protocol/accounts.ts';
import type { Member } from '../../../protocol/members.ts';
import { DomainError } from '../../platform/errors.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import {
  SESSION_IDLE_MS,
  SESSION_LIFETIME_MS,
  SESSIONS_MAX,
  type SessionTimes,
} from './member-rules.ts';

export interface SessionRow extends SessionTimes {
  readonly hash: string;
  readonly member: Member;
  readonly account: User;
}

/** The password of a member, by its email. */
interface StoredPassword {
  readonly member: string;
  readonly account: string;
  readonly passwordHash: string;
}

export interface NewSession {
  readonly hash: string;
  /** The hash of the browser's previous session, which ends; null: none. */
  readonly replaced: string | null;
  readonly nowMs: number;
}

interface JoinedSession extends SessionTimes, Omit<Member, 'created'> {
  readonly hash: string;
  readonly joined: number;
  readonly account: string;
  readonly accountEmail: string;
  readonly accountName: string;
  readonly accountCreated: number;
}

/** The session with this hash, expired or not; null when there is none. */
export async function sessionOf(tx: Tx, hash: string): Promise<SessionRow | null> {
  const [row] = await tx.query<JoinedSession>(
    `select s.hash as hash, s.created as created, s.seen as seen, m.uuid as uuid, m.email as email,
            m.name as name, m.role as role, m.created as joined, a.uuid as account,
            a.email as "accountEmail", a.name as "accountName", a.created as "accountCreated"
     from sessions s join members m on m.uuid = s.member join accounts a on a.uuid = m.account
     where s.hash = $1`,
    [hash],
  );
  if (!row) return null;
  const { created, seen, uuid, email, name, role, joined } = row;
  return {
    hash,
    created,
    seen,
    member: { uuid, email, name, role, created: joined },
    account: {
      uuid: row.account,
      email: row.accountEmail,
      name: row.accountName,
      created: row.accountCreated,
    },
  };
}

/**
 * Inserts a session of a member whose row this transaction has locked or created, in place of the
 * previous one of the browser.
 */
export async function insertSession(
  tx: Tx,
  member: string,
  { hash, replaced, nowMs }: NewSession,
): Promise<SessionRow> {
  if (replaced !== null) await tx.query('delete from sessions where hash = $1', [replaced]);
  // Delete the least recently used sessions beyond the limit.
  await tx.query(
    `delete from sessions where member = $1 and hash not in
     (select hash from sessions where member = $1 order by seen desc, hash limit $2)`,
    [member, SESSIONS_MAX - 1],
  );
  await tx.query('insert into sessions (hash, member, created, seen) values ($1, $2, $3, $3)', [
    hash,
    member,
    nowMs,
  ]);
  const session = await sessionOf(tx, hash);
  if (!session) throw new Error('the inserted session was not found');
  return session;
}

/** Deletes the sessions of a member. @param exceptHash the session to keep, if any */
export async function endSessionsOf(
  tx: Tx,
  member: string,
  exceptHash: string | null,
): Promise<void> {
  await tx.query('delete from sessions where member = $1 and hash <> $2', [
    member,
    exceptHash ?? '',
  ]);
}

export const sessionProcedures = {
  findSession: readProcedure((tx, { hash }: { hash: string }) => sessionOf(tx, hash)),

  /** Like `findSession`, for a session that this process has not seen: procedures take turns. */
  findUnseenSession: readProcedure((tx, { hash }: { hash: string }) => sessionOf(tx, hash)),

  /** The member with this email and the hash of the password; null when there is none. */
  findSignIn: readProcedure(
    async (tx, { email }: { email: string }): Promise<StoredPassword | null> => {
      const [row] = await tx.query<StoredPassword>(
        'select uuid as member, account, password as "passwordHash" from members where email = $1',
        [email],
      );
      return row ?? null;
    },
  ),

  /**
   * Opens a session for a member whose password was verified, unless the password changed since.
   * @param input.newPasswordHash replaces the hash of the same password; null: keep it
   * @throws DomainError `unauthorized` when the member was removed or the password changed
   */
  openSession: writeProcedure(
    async (
      tx,
      input: {
        member: string;
        passwordHash: string;
        newPasswordHash: string | null;
        session: NewSession;
      },
    ): Promise<SessionRow> => {
      const [member] = await tx.query(
        `select uuid from members where uuid = $1 and password = $2 ${tx.locks.update}`,
        [input.member, input.passwordHash],
      );
      if (!member)
        throw new DomainError('unauthorized', 'The password has just changed. Try again.');
      if (input.newPasswordHash !== null) {
        await tx.query('update members set password = $2 where uuid = $1', [
          input.member,
          input.newPasswordHash,
        ]);
      }
      return insertSession(tx, input.member, input.session);
    },
  ),

  /** Records the use of a session. */
  recordSessionUse: writeProcedure(
    async (tx, { hash, nowMs }: { hash: string; nowMs: number }): Promise<void> => {
      await tx.query('update sessions set seen = $2 where hash = $1 and seen < $2', [hash, nowMs]);
    },
  ),

  endSession: writeProcedure(async (tx, { hash }: { hash: string }): Promise<void> => {
    await tx.query('delete from sessions where hash = $1', [hash]);
  }),

  endSessions: writeProcedure((tx, { member }: { member: string }) =>
    endSessionsOf(tx, member, null),
  ),

  /** Deletes expired sessions and links, a bounded number at once. */
  deleteExpiredSessionsAndLinks: writeProcedure(
    async (tx, { nowMs }: { nowMs: number }): Promise<void> => {
      for (const [table, column, beforeMs] of [
        ['sessions', 'seen', nowMs - SESSION_IDLE_MS],
        ['sessions', 'created', nowMs - SESSION_LIFETIME_MS],
        ['links', 'expires', nowMs],
      ] as const) {
        // Skip rows that another node has locked: it deletes them.
        await tx.query(
          `delete from ${table} where hash in
         (select hash from ${table} where ${column} <= $1 limit 1000 ${tx.locks.claim})`,
          [beforeMs],
        );
      }
    },
  ),
};
