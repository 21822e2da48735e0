import type { Member, MemberRole } from '../../../protocol/members.ts';
import { DomainError } from '../../platform/errors.ts';
import { nextNumber } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { lockAccount } from '../accounts/accounts-sql.ts';
import { MEMBERS_MAX, requireRemainingOwner } from './member-rules.ts';
import { endSessionsOf } from './sessions-sql.ts';

export interface NewMember extends Member {
  readonly account: string;
  readonly passwordHash: string;
}

const COLUMNS = 'uuid, email, name, role, created';

async function membersOf(tx: Tx, account: string): Promise<Member[]> {
  const rows = await tx.query<Member>(
    `select ${COLUMNS} from members where account = $1 order by number`,
    [account],
  );
  return [...rows];
}

/** A member, and the account that it belongs to. */
export interface MemberAndAccount {
  readonly uuid: string;
  readonly email: string;
  readonly account: { readonly uuid: string; readonly name: string };
}

/** The member with this email, in any case; null when there is none. */
export async function memberByEmail(tx: Tx, email: string): Promise<MemberAndAccount | null> {
  const [row] = await tx.query<{ uuid: string; email: string; account: string; name: string }>(
    `select m.uuid as uuid, m.email as email, a.uuid as account, a.name as name
     from members m join accounts a on a.uuid = m.account where m.email = $1`,
    [email.toLowerCase()],
  );
  if (!row) return null;
  const { account, name, ...member } = row;
  return { ...member, account: { uuid: account, name } };
}

/**
 * Inserts a member of an account that this transaction has locked or created, and deletes all setup
 * links: the service is set up.
 * @throws DomainError `conflict` when the account is full or the email has a member already
 */
export async function insertMember(tx: Tx, member: NewMember): Promise<void> {
  if ((await membersOf(tx, member.account)).length >= MEMBERS_MAX) {
    throw new DomainError('conflict', `An account has at most ${MEMBERS_MAX} members.`);
  }
  const { uuid, account, email, name, role, passwordHash, created } = member;
  const { affected } = await tx.query(
    `insert into members (uuid, number, account, email, name, role, password, created)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (email) do nothing`,
    [uuid, await nextNumber(tx, 'member'), account, email, name, role, passwordHash, created],
  );
  if (affected === 0) {
    throw new DomainError(
      'conflict',
      'A member with this email already exists. Sign in with it, or ask the operator of the service if it is not you.',
    );
  }
  await tx.query("delete from links where kind = 'setup'");
}

/**
 * Withdraws all invitations to an account that loses this member as an owner: owners see the links that
 * they create, and one of these would bring them back.
 */
async function withdrawInvitationsOf(tx: Tx, account: string, { role }: Member): Promise<void> {
  if (role !== 'owner') return;
  await tx.query("delete from links where account = $1 and kind = 'invitation'", [account]);
}

/** Locks an account and reads its members. @throws DomainError `not-found` when none has this uuid */
async function lockAccountOfMember(
  tx: Tx,
  { account, uuid, by }: MemberOfAccount,
): Promise<{ member: Member; members: Member[] }> {
  await lockAccount(tx, account, by);
  const members = await membersOf(tx, account);
  const member = members.find((candidate) => candidate.uuid === uuid);
  if (!member) throw new DomainError('not-found', 'This account has no such member.');
  return { member, members };
}

interface MemberOfAccount {
  readonly account: string;
  readonly uuid: string;
  /** The owner who acts; null: a program. */
  readonly by: string | null;
}

export const memberProcedures = {
  listMembers: readProcedure((tx, { account }: { account: string }) => membersOf(tx, account)),

  findMember: readProcedure((tx, { email }: { email: string }) => memberByEmail(tx, email)),

  /** @throws DomainError `not-found`, or `conflict` when no owner would be left */
  changeRole: writeProcedure(
    async (tx, { role, ...input }: MemberOfAccount & { role: MemberRole }): Promise<Member> => {
      const { account, uuid } = input;
      const { member, members } = await lockAccountOfMember(tx, input);
      requireRemainingOwner(members, uuid, role);
      if (role !== 'owner') await withdrawInvitationsOf(tx, account, member);
      await tx.query('update members set role = $2 where uuid = $1', [uuid, role]);
      return { ...member, role };
    },
  ),

  /**
   * Removes a member with its sessions.
   * @param input.lastOwner whether it may be the last owner of the account
   * @throws DomainError as `changeRole`
   */
  removeMember: writeProcedure(
    async (tx, input: MemberOfAccount & { lastOwner: boolean }): Promise<void> => {
      const { account, uuid } = input;
      const { member, members } = await lockAccountOfMember(tx, input);
      if (!input.lastOwner) requireRemainingOwner(members, uuid, null);
      await withdrawInvitationsOf(tx, account, member);
      // A concurrent sign-in locks this row too. If it commits first, its session is deleted here;
      // otherwise it finds no member.
      await tx.query(`select uuid from members where uuid = $1 ${tx.locks.update}`, [uuid]);
      await endSessionsOf(tx, uuid, null);
      await tx.query("delete from links where kind = 'password' and email = $1", [member.email]);
      await tx.query('delete from members where uuid = $1', [uuid]);
    },
  ),

  /**
   * Changes the name or the password of a member; null leaves it unchanged. A new password ends the other
   * sessions.
   * @param input.session hash of the session that does not end
   * @param input.password `next`: the new hash; `old`: the hash that the current password matched
   * @throws DomainError `unauthorized` when the member was removed or the password changed
   */
  changeOwnMember: writeProcedure(
    async (
      tx,
      input: {
        uuid: string;
        session: string;
        name: string | null;
        password: { readonly old: string; readonly next: string } | null;
      },
    ): Promise<Member> => {
      const [member] = await tx.query<Member>(
        `update members set name = coalesce($2, name), password = coalesce($3, password)
         where uuid = $1 and password = coalesce($4, password) returning ${COLUMNS}`,
        [input.uuid, input.name, input.password?.next ?? null, input.password?.old ?? null],
      );
      if (!member)
        throw new DomainError('unauthorized', 'The password has just changed. Try again.');
      if (input.password) {
        await endSessionsOf(tx, input.uuid, input.session);
        await tx.query("delete from links where kind = 'password' and email = $1", [member.email]);
      }
      return member;
    },
  ),
};
