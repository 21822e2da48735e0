import type { User } from '../../../protocol/accounts.ts';
import type { Invitation, Link, LinkKind, MemberRole } from '../../../protocol/members.ts';
import { DomainError } from '../../platform/errors.ts';
import { nextNumber } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';
import { accountOf, insertAccount, lockAccount } from '../accounts/accounts-sql.ts';
import {
  INVITATION_LIFETIME_MS,
  INVITATIONS_MAX,
  OPERATOR_LINK_LIFETIME_MS,
  SETUP_LINKS_MAX,
} from './member-rules.ts';
import {
  insertMember,
  type MemberAndAccount,
  memberByEmail,
  type NewMember,
} from './members-sql.ts';
import { endSessionsOf, insertSession, type NewSession, type SessionRow } from './sessions-sql.ts';

/** A link to insert. It has the hash instead of the secret. */
export interface NewLink {
  readonly id: string;
  readonly hash: string;
  readonly nowMs: number;
}

/** A link that the operator created. */
export interface OperatorLink {
  readonly kind: LinkKind;
  /** The account that it opens. */
  readonly account: { readonly uuid: string; readonly name: string };
  /** Unix ms. */
  readonly expires: number;
}

interface LinkRow {
  readonly id: string;
  readonly kind: LinkKind;
  readonly account: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly accountName: string;
}

interface LinkFields {
  readonly kind: LinkKind | 'setup';
  readonly account: string | null;
  readonly email: string | null;
  readonly role: MemberRole | null;
  readonly expires: number;
}

async function insertLink(tx: Tx, { id, hash, nowMs }: NewLink, fields: LinkFields): Promise<void> {
  const { kind, account, email, role, expires } = fields;
  await tx.query(
    `insert into links (id, number, kind, hash, account, email, role, created, expires)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, await nextNumber(tx, 'link'), kind, hash, account, email, role, nowMs, expires],
  );
}

const invalidLink = () =>
  new DomainError(
    'unauthorized',
    'The link was used or withdrawn, or has expired. If you have just used it, sign in; else ask for a new one.',
  );

/** The valid link with this hash. @throws DomainError `unauthorized` when there is none */
async function findLink(tx: Tx, hash: string, nowMs: number): Promise<LinkRow> {
  const [row] = await tx.query<LinkRow>(
    `select l.id as id, l.kind as kind, l.account as account, l.email as email,
            coalesce(l.role, m.role) as role, a.name as "accountName"
     from links l join accounts a on a.uuid = l.account
     left join members m on m.email = l.email and l.kind = 'password'
     where l.hash = $1 and l.expires > $2`,
    [hash, nowMs],
  );
  if (!row) throw invalidLink();
  return row;
}

/** Deletes a valid link; one of several concurrent calls succeeds. @throws DomainError `unauthorized` */
async function consumeLink(tx: Tx, hash: string, nowMs: number): Promise<void> {
  const { affected } = await tx.query('delete from links where hash = $1 and expires > $2', [
    hash,
    nowMs,
  ]);
  if (affected === 0) throw invalidLink();
}

/**
 * Inserts an invitation to an account that this transaction has locked. It replaces an earlier one of
 * the same email.
 * @throws DomainError `conflict` when the email is a member's, or too many invitations are open
 */
async function insertInvitation(
  tx: Tx,
  link: NewLink,
  invitee: { account: string; email: string; role: MemberRole; lifeMs: number },
): Promise<Invitation> {
  const { account, email, role } = invitee;
  const [member] = await tx.query('select uuid from members where email = $1 and account = $2', [
    email,
    account,
  ]);
  if (member) throw new DomainError('conflict', 'A member with this email already exists.');
  await tx.query(
    `delete from links where account = $1 and kind = 'invitation' and (email = $2 or expires <= $3)`,
    [account, email, link.nowMs],
  );
  const [counted] = await tx.query<{ n: number }>(
    `select count(*) as n from links where account = $1 and kind = 'invitation'`,
    [account],
  );
  if (Number(counted?.n) >= INVITATIONS_MAX) {
    const detail = `An account has at most ${INVITATIONS_MAX} open invitations; withdraw one.`;
    throw new DomainError('conflict', detail);
  }
  const expires = link.nowMs + invitee.lifeMs;
  await insertLink(tx, link, { kind: 'invitation', account, email, role, expires });
  return { id: link.id, email, role, created: link.nowMs, expires };
}

export const linkProcedures = {
  /**
   * Stores a setup link unless there already is a member.
   * @returns whether it was stored
   */
  keepSetupLink: writeProcedure(async (tx, link: NewLink): Promise<boolean> => {
    await lockMemberCreation(tx);
    if (await hasMembers(tx)) return false;
    const expires = link.nowMs + OPERATOR_LINK_LIFETIME_MS;
    const fields = { account: null, email: null, role: null, expires };
    await insertLink(tx, link, { kind: 'setup', ...fields });
    await tx.query(
      `delete from links where kind = 'setup' and id not in
       (select id from links where kind = 'setup' order by number desc limit $1)`,
      [SETUP_LINKS_MAX],
    );
    return true;
  }),

  isSetupLink: readProcedure(
    async (tx, { hash, nowMs }: { hash: string; nowMs: number }): Promise<boolean> => {
      const [link] = await tx.query(
        `select id from links where hash = $1 and kind = 'setup' and expires > $2`,
        [hash, nowMs],
      );
      return link !== undefined;
    },
  ),

  /** Whether the service has a member, so that it needs no setup. */
  isSetUp: readProcedure((tx): Promise<boolean> => hasMembers(tx)),

  /**
   * Creates the first account and its owner, and signs the owner in.
   * @throws DomainError `unauthorized` for an invalid link, `conflict` when the email has an account
   */
  setUp: writeProcedure(
    async (
      tx,
      input: { hash: string; account: User; owner: NewMember; session: NewSession },
    ): Promise<SessionRow> => {
      await lockMemberCreation(tx);
      if (await hasMembers(tx)) throw invalidLink();
      await consumeLink(tx, input.hash, input.session.nowMs);
      if (!(await insertAccount(tx, input.account))) {
        throw new DomainError(
          'conflict',
          'An account with this email already exists. Open it with "fourbeat member link", or use another email.',
        );
      }
      await insertMember(tx, input.owner);
      return insertSession(tx, input.owner.uuid, input.session);
    },
  ),

  /** Invites a person. @throws DomainError `not-found`, or `conflict` as `insertInvitation` */
  invite: writeProcedure(
    async (
      tx,
      input: {
        account: string;
        by: string | null;
        email: string;
        role: MemberRole;
        link: NewLink;
      },
    ): Promise<Invitation> => {
      await lockAccount(tx, input.account, input.by);
      return insertInvitation(tx, input.link, { ...input, lifeMs: INVITATION_LIFETIME_MS });
    },
  ),

  listInvitations: readProcedure(
    async (tx, { account, nowMs }: { account: string; nowMs: number }): Promise<Invitation[]> => {
      const rows = await tx.query<Invitation>(
        `select id, email, role, created, expires from links
         where account = $1 and kind = 'invitation' and expires > $2 order by number desc`,
        [account, nowMs],
      );
      return [...rows];
    },
  ),

  /** @throws DomainError `not-found` */
  withdrawInvitation: writeProcedure(
    async (tx, { account, id }: { account: string; id: string }): Promise<void> => {
      const { affected } = await tx.query(
        `delete from links where id = $1 and account = $2 and kind = 'invitation'`,
        [id, account],
      );
      if (affected === 0)
        throw new DomainError('not-found', 'This account has no such invitation.');
    },
  ),

  /** The purpose of a link. @throws DomainError `unauthorized` for an invalid link */
  lookAtLink: readProcedure(
    async (tx, { hash, nowMs }: { hash: string; nowMs: number }): Promise<Link> => {
      const { kind, email, role, accountName } = await findLink(tx, hash, nowMs);
      return { kind, email, role, account: { name: accountName } };
    },
  ),

  /** The account of a link. @throws DomainError `unauthorized` for an invalid link */
  findLinkAccount: readProcedure(
    async (tx, { hash, nowMs }: { hash: string; nowMs: number }): Promise<string> =>
      (await findLink(tx, hash, nowMs)).account,
  ),

  /**
   * Consumes a link: creates the invited member, or sets the password of a member and ends its earlier
   * sessions. Signs the member in.
   * @param input.name the name of a new member
   * @throws DomainError `unauthorized` for an invalid link, `invalid` when a new member has no name,
   *   `conflict` when the account is full or the email has a member
   */
  acceptLink: writeProcedure(
    async (
      tx,
      input: {
        hash: string;
        uuid: string;
        name: string | null;
        passwordHash: string;
        session: NewSession;
      },
    ): Promise<SessionRow> => {
      const { nowMs } = input.session;
      const link = await findLink(tx, input.hash, nowMs);
      // Lock the account first, like all procedures that insert or delete its links.
      await lockAccount(tx, link.account);
      await consumeLink(tx, input.hash, nowMs);
      const member =
        link.kind === 'password'
          ? await setPassword(tx, link, input)
          : await createInvitedMember(tx, link, input);
      return insertSession(tx, member, input.session);
    },
  ),

  /**
   * Creates a link for the operator: a password link for the member with this email or, if there is
   * none, an owner invitation for it.
   * @param input.account uuid or email of the account; null: the account with this email, else the member's
   * @returns null when there is neither a member nor an account
   * @throws DomainError `not-found` for an unknown account, `conflict` when the email is that of a member of
   *   another account: invitations verify no email, so any account can have this member
   */
  createMemberLink: writeProcedure(
    async (
      tx,
      input: { email: string; account: string | null; link: NewLink },
    ): Promise<OperatorLink | null> => {
      const { link } = input;
      const email = input.email.toLowerCase();
      const member = await memberByEmail(tx, email);
      const wanted = await accountOf(tx, input.account ?? input.email);
      if (input.account !== null && !wanted) {
        throw new DomainError('not-found', `No account has the email or id ${input.account}.`);
      }
      const account = wanted ?? member?.account;
      if (!account) return null;
      if (member && member.account.uuid !== account.uuid) throw memberOfOther(member, account);
      await lockAccount(tx, account.uuid);
      const { uuid, name } = account;
      const expires = link.nowMs + OPERATOR_LINK_LIFETIME_MS;
      if (member) {
        await tx.query("delete from links where kind = 'password' and email = $1", [email]);
        await insertLink(tx, link, { kind: 'password', account: uuid, email, role: null, expires });
      } else {
        const lifeMs = OPERATOR_LINK_LIFETIME_MS;
        await insertInvitation(tx, link, { account: uuid, email, role: 'owner', lifeMs });
      }
      return { kind: member ? 'password' : 'invitation', account: { uuid, name }, expires };
    },
  ),
};

type NamedAccount = OperatorLink['account'];

function memberOfOther({ email, account }: MemberAndAccount, wanted: NamedAccount): DomainError {
  return new DomainError(
    'conflict',
    `${email} is a member of the account "${account.name}" (${account.uuid}), not of "${wanted.name}" (${wanted.uuid}). For a link to the first one add --account ${account.uuid}. To free the email for the second one run: fourbeat member remove --email ${email}`,
  );
}

// Locks the counter that numbers members, so that no member is inserted until this transaction ends.
async function lockMemberCreation(tx: Tx): Promise<void> {
  await tx.query(`select name from counters where name = 'member' ${tx.locks.update}`);
}

async function hasMembers(tx: Tx): Promise<boolean> {
  const [member] = await tx.query('select uuid from members limit 1');
  return member !== undefined;
}

async function setPassword(
  tx: Tx,
  link: LinkRow,
  { passwordHash }: { passwordHash: string },
): Promise<string> {
  const [member] = await tx.query<{ uuid: string }>(
    // Since the link was created, another account may have got a member with this email.
    'update members set password = $2 where email = $1 and account = $3 returning uuid',
    [link.email, passwordHash, link.account],
  );
  if (!member) throw invalidLink();
  await endSessionsOf(tx, member.uuid, null);
  return member.uuid;
}

async function createInvitedMember(
  tx: Tx,
  { account, email, role }: LinkRow,
  input: { uuid: string; name: string | null; passwordHash: string; session: NewSession },
): Promise<string> {
  const { uuid, name, passwordHash, session } = input;
  if (name === null) throw new DomainError('invalid', 'name: is missing; send a string.');
  const created = session.nowMs;
  await insertMember(tx, { uuid, account, email, name, role, passwordHash, created });
  return uuid;
}
