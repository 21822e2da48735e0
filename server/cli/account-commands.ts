import type { Command } from '@commander-js/extra-typings';
import {
  addSettings,
  DATABASE_SETTINGS,
  type DatabaseLocation,
  databaseLocationOf,
  describeLocation,
} from './settings.ts';
import type { Terminal } from './terminal.ts';
import { parseEmail, parseId, parseName } from './values.ts';

const EMAIL = '--email <address>';
const EMAIL_HELP = 'email of the account';

/** `account create` (SPEC O-3). Loads the database code only when the command runs. */
export function addAccountCommands(program: Command, terminal: Terminal): void {
  const account = program.command('account').description('manage producer accounts');
  const create = account
    .command('create')
    .description(
      'create an account and print it with its first API token, which is shown only once',
    )
    .requiredOption(EMAIL, EMAIL_HELP, parseEmail)
    .requiredOption('--name <name>', 'name of the account', parseName);
  addSettings(create, DATABASE_SETTINGS);
  create.action(async ({ email, name }) => {
    const { createAccount, withDatabase } = await loadDatabaseCode();
    const created = await withDatabase(databaseLocationOf(create), true, (store, nowMs) =>
      createAccount(store, { email, name }, nowMs),
    );
    reportLocation(terminal, databaseLocationOf(create));
    terminal.print(JSON.stringify(created));
  });
}

/** `token create`, `list` and `revoke` (SPEC O-4). */
export function addTokenCommands(program: Command, terminal: Terminal): void {
  const token = program.command('token').description('create, list and revoke API tokens');

  const create = token
    .command('create')
    .description('create an API token and print it; it is shown only once')
    .requiredOption(EMAIL, EMAIL_HELP, parseEmail)
    .requiredOption('--name <name>', 'what the token is for', parseName);
  addSettings(create, DATABASE_SETTINGS);
  create.action(async ({ email, name }) => {
    const { createToken, withDatabase } = await loadDatabaseCode();
    const created = await withDatabase(databaseLocationOf(create), false, (store, nowMs) =>
      createToken(store, { email, name }, nowMs),
    );
    reportLocation(terminal, databaseLocationOf(create));
    terminal.print(JSON.stringify(created));
  });

  const list = token
    .command('list')
    .description('list the API tokens of an account')
    .requiredOption(EMAIL, EMAIL_HELP, parseEmail)
    .option('--json', 'print one JSON array');
  addSettings(list, DATABASE_SETTINGS);
  list.action(async ({ email, json }) => {
    const { listTokens, tokenTable, withDatabase } = await loadDatabaseCode();
    const tokens = await withDatabase(databaseLocationOf(list), false, (store) =>
      listTokens(store, { email }),
    );
    terminal.print(json ? JSON.stringify(tokens) : tokenTable(tokens));
  });

  const revoke = token
    .command('revoke')
    .description('revoke an API token; it is rejected from now on')
    .requiredOption('--id <id>', 'id of the token, as "token list" shows it', parseId);
  addSettings(revoke, DATABASE_SETTINGS);
  revoke.action(async ({ id }) => {
    const { withDatabase } = await loadDatabaseCode();
    await withDatabase(databaseLocationOf(revoke), false, (store) =>
      store.revokeApiToken({ account: null, id }),
    );
    terminal.print(JSON.stringify({ id, revoked: true }));
  });
}

/** Prints which database was changed: a server does not see changes in another one. */
export function reportLocation(terminal: Terminal, location: DatabaseLocation): void {
  terminal.printError(`fourbeat: saved in the database in ${describeLocation(location)}`);
}

async function loadDatabaseCode() {
  return { ...(await import('./accounts.ts')), ...(await import('./with-database.ts')) };
}
