import type { ApiToken, User } from '../../../protocol/accounts.ts';
import { DomainError } from '../../platform/errors.ts';
import { nextNumber } from '../../storage/sql/counters.ts';
import { readProcedure, type Tx, writeProcedure } from '../../storage/sql/procedure.ts';

/** A service token to store. It has the hash instead of the secret. */
export interface NewToken {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly hash: string;
}

/** A service token's account. */
export interface TokenOwner {
  readonly tokenId: string;
  readonly hash: string;
  readonly user: User;
}

const TOKEN_COLUMNS = 'id, name, prefix, created, last_used as "lastUsed"';
const USE_COLUMNS = ['id text', 'at bigint'];
// Bounds what one account can store.
const TOKENS_MAX = 100;

/**
 * Locks the row of an account, so that its limits are checked by one transaction at a time.
 * @param owner the member who acts, who must be an owner still; null: a program
 * @throws DomainError `not-found`; `unauthorized` when the member was removed or demoted
 */
export async function lockAccount(
  tx: Tx,
  uuid: string,
  owner: string | null = null,
): Promise<void> {
  const [account] = await tx.query(`select uuid from accounts where uuid = $1 ${tx.locks.update}`, [
    uuid,
  ]);
  if (!account) throw new DomainError('not-found', 'There is no such account.');
  if (owner === null) return;
  const [member] = await tx.query(
    `select uuid from members where uuid = $1 and account = $2 and role = 'owner'`,
    [owner, uuid],
  );
  if (!member) throw new DomainError('unauthorized', 'You are no longer an owner of the account.');
}

/**
 * Finds an account by its uuid or by its email, in any case.
 * @throws DomainError `conflict` when this is the email of several accounts, which earlier versions allowed
 */
export async function accountOf(tx: Tx, uuidOrEmail: string): Promise<User | null> {
  const accounts = await tx.query<User>(
    `select uuid, email, name, created from accounts
     where uuid = $1 or email = $1 or lower(email) = $2 order by email`,
    [uuidOrEmail, uuidOrEmail.toLowerCase()],
  );
  const exact = accounts.find(({ email }) => email === uuidOrEmail);
  if (exact || accounts.length <= 1) return exact ?? accounts[0] ?? null;
  const emails = accounts.map(({ email }) => email).join(', ');
  const detail = `Several accounts have this email. Write it in the case of one of them: ${emails}.`;
  throw new DomainError('conflict', detail);
}

/**
 * Inserts an account unless another one has its email.
 * @param account.email in lower case
 * @returns whether it was inserted
 */
export async function insertAccount(tx: Tx, account: User): Promise<boolean> {
  const { uuid, email, name, created } = account;
  // Earlier versions stored emails as they were typed.
  const [typed] = await tx.query('select uuid from accounts where lower(email) = $1', [email]);
  if (typed) return false;
  const { affected } = await tx.query(
    `insert into accounts (uuid, email, name, created) values ($1, $2, $3, $4)
     on conflict (email) do nothing`,
    [uuid, email, name, created],
  );
  return affected > 0;
}

async function insertToken(tx: Tx, account: string, token: NewToken, nowMs: number) {
  await tx.query(
    `insert into api_tokens (id, number, account, name, prefix, hash, created)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      token.id,
      await nextNumber(tx, 'api-token'),
      account,
      token.name,
      token.prefix,
      token.hash,
      nowMs,
    ],
  );
}

async function tokenOwnerOf(tx: Tx, hash: string): Promise<TokenOwner | null> {
  const [row] = await tx.query<User & { tokenId: string; hash: string }>(
    `select t.id as "tokenId", t.hash as hash, a.uuid as uuid, a.email as email,
            a.name as name, a.created as created
     from api_tokens t join accounts a on a.uuid = t.account where t.hash = $1`,
    [hash],
  );
  if (!row) return null;
  const { tokenId, uuid, email, name, created } = row;
  return { tokenId, hash: row.hash, user: { uuid, email, name, created } };
}

export const accountProcedures = {
  /** Creates an account with its first token. @throws DomainError `conflict` when the email is taken. */
  createAccount: writeProcedure(
    async (tx, input: { user: User; token: NewToken; nowMs: number }): Promise<void> => {
      const { uuid, email } = input.user;
      if (!(await insertAccount(tx, input.user))) {
        throw new DomainError(
          'conflict',
          `An account with the email ${email} already exists. Use another email, or create a token for it with "token create".`,
        );
      }
      await insertToken(tx, uuid, input.token, input.nowMs);
    },
  ),

  findAccount: readProcedure((tx, { email }: { email: string }) => accountOf(tx, email)),

  /** The account of a token, by the token's hash; null for an unknown or revoked token. */
  findTokenOwner: readProcedure((tx, { hash }: { hash: string }) => tokenOwnerOf(tx, hash)),

  /** Like `findTokenOwner`, for a token that this process has not seen: procedures take turns. */
  findUnseenTokenOwner: readProcedure((tx, { hash }: { hash: string }) => tokenOwnerOf(tx, hash)),

  createApiToken: writeProcedure(
    async (
      tx,
      input: { account: string; by: string | null; token: NewToken; nowMs: number },
    ): Promise<{ id: string }> => {
      await lockAccount(tx, input.account, input.by);
      const [row] = await tx.query<{ n: number }>(
        'select count(*) as n from api_tokens where account = $1',
        [input.account],
      );
      if (Number(row?.n) >= TOKENS_MAX) {
        throw new DomainError(
          'conflict',
          `An account has at most ${TOKENS_MAX} tokens; revoke one.`,
        );
      }
      await insertToken(tx, input.account, input.token, input.nowMs);
      return { id: input.token.id };
    },
  ),

  listApiTokens: readProcedure(
    async (tx, { account }: { account: string }): Promise<ApiToken[]> => {
      const rows = await tx.query<ApiToken>(
        `select ${TOKEN_COLUMNS} from api_tokens where account = $1 order by number desc`,
        [account],
      );
      return [...rows];
    },
  ),

  /**
   * Revokes a token of this account; with `account` null, a token of any account (the command line).
   * @throws DomainError `not-found` when the account has no such token.
   */
  revokeApiToken: writeProcedure(
    async (tx, input: { account: string | null; id: string }): Promise<void> => {
      const { affected } = await tx.query(
        'delete from api_tokens where id = $1 and account = coalesce($2, account)',
        [input.id, input.account],
      );
      if (affected === 0) {
        throw new DomainError(
          'not-found',
          input.account ? 'This account has no such token.' : `There is no token ${input.id}.`,
        );
      }
    },
  ),

  /** Records when tokens were last used. */
  recordServiceTokenUses: writeProcedure(
    async (tx, { uses }: { uses: readonly (readonly [string, number])[] }): Promise<void> => {
      // Several nodes write the same tokens: lock in one order, so that they cannot deadlock.
      const used = JSON.stringify(uses);
      await tx.query(
        `select id from api_tokens where id in (select id from ${tx.rows('$1', USE_COLUMNS)} used)
         order by id ${tx.locks.update}`,
        [used],
      );
      await tx.query(
        `update api_tokens set last_used = used.at from ${tx.rows('$1', USE_COLUMNS)} used
         where api_tokens.id = used.id and coalesce(api_tokens.last_used, -1) < used.at`,
        [used],
      );
    },
  ),
};
