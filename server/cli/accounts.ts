import type { ApiToken, User } from '../../protocol/accounts.ts';
import type { Store } from '../app/procedures.ts';
import { newServiceToken } from '../auth/accounts/service-tokens.ts';
import { runtime } from '../platform/runtime.ts';

/** An API token with its secret, which is shown only once. */
export interface CreatedToken extends ApiToken {
  readonly token: string;
}

/** Creates an account with its first token. @throws DomainError `conflict` when the email is taken. */
export async function createAccount(
  store: Pick<Store, 'createAccount'>,
  input: { email: string; name: string },
  nowMs: number,
): Promise<{ uuid: string; email: string; name: string; token: string }> {
  const [email, name] = [input.email.toLowerCase(), input.name];
  const user: User = { uuid: runtime.newId(), email, name, created: nowMs };
  const { secret, stored } = newServiceToken(
    runtime.newId(),
    'account create',
    runtime.randomBytes,
  );
  await store.createAccount({ user, token: stored, nowMs });
  return { uuid: user.uuid, email, name, token: secret };
}

export async function createToken(
  store: Pick<Store, 'findAccount' | 'createApiToken'>,
  { email, name }: { email: string; name: string },
  nowMs: number,
): Promise<CreatedToken> {
  const { uuid } = await accountOf(store, email);
  const { secret, stored } = newServiceToken(runtime.newId(), name, runtime.randomBytes);
  await store.createApiToken({ account: uuid, by: null, token: stored, nowMs });
  const { id, prefix } = stored;
  return { id, name, prefix, created: nowMs, lastUsed: null, token: secret };
}

/** Lists the tokens of the account with this email, without secrets. */
export async function listTokens(
  store: Pick<Store, 'findAccount' | 'listApiTokens'>,
  { email }: { email: string },
): Promise<ApiToken[]> {
  const { uuid } = await accountOf(store, email);
  return store.listApiTokens({ account: uuid });
}

export function tokenTable(tokens: readonly ApiToken[]): string {
  const rows = tokens.map(({ id, name, prefix, created, lastUsed }) => [
    id,
    `${prefix}…`,
    formatMinute(created),
    lastUsed === null ? 'never' : formatMinute(lastUsed),
    name,
  ]);
  return formatColumns([['ID', 'TOKEN', 'CREATED', 'LAST USED', 'NAME'], ...rows]);
}

async function accountOf(store: Pick<Store, 'findAccount'>, email: string): Promise<User> {
  const user = await store.findAccount({ email });
  if (!user)
    throw new Error(`no account has the email ${email}; create it with: fourbeat account create`);
  return user;
}

function formatMinute(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 16).replace('T', ' ');
}

function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => Bun.stringWidth(row[column] ?? ''))),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - Bun.stringWidth(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
