import type { Command } from '@commander-js/extra-typings';
import {
  addSettings,
  type DatabaseLocation,
  nameOfPlace,
  RECORD_SETTINGS,
  recordOf,
} from './settings.ts';
import type { Terminal } from './terminal.ts';
import { parseEmail, parseId, parseName } from './values.ts';

const EMAIL = '--email <address>';
const EMAIL_HELP = 'email of the account';

/** `account create` (SPEC O-3). Code that opens the database is loaded when it is needed. */
export function addAccountCommands(program: Command, terminal: Terminal): void {
  const account = program.command('account').description('make accounts of producers');
  const create = account
    .command('create')
    .description('make an account and print it with its first API token, which is shown once')
    .requiredOption(EMAIL, EMAIL_HELP, parseEmail)
    .requiredOption('--name <name>', 'name of the account', parseName);
  addSettings(create, RECORD_SETTINGS);
  create.action(async ({ email, name }) => {
    const { createAccount, withDatabase } = await records();
    const made = await withDatabase(recordOf(create), true, (store, nowMs) =>
      createAccount(store, { email, name }, nowMs),
    );
    sayWhere(terminal, recordOf(create));
    terminal.print(JSON.stringify(made));
  });
}

/** `token create`, `list` and `revoke` (SPEC O-4). */
export function addTokenCommands(program: Command, terminal: Terminal): void {
  const token = program.command('token').description('make, list and revoke API tokens');

  const create = token
    .command('create')
    .description('make an API token and print it; it is shown once')
    .requiredOption(EMAIL, EMAIL_HELP, parseEmail)
    .requiredOption('--name <name>', 'what the token is for', parseName);
  addSettings(create, RECORD_SETTINGS);
  create.action(async ({ email, name }) => {
    const { createToken, withDatabase } = await records();
    const made = await withDatabase(recordOf(create), false, (store, nowMs) =>
      createToken(store, { email, name }, nowMs),
    );
    sayWhere(terminal, recordOf(create));
    terminal.print(JSON.stringify(made));
  });

  const list = token
    .command('list')
    .description('list the API tokens of an account')
    .requiredOption(EMAIL, EMAIL_HELP, parseEmail)
    .option('--json', 'as one JSON array');
  addSettings(list, RECORD_SETTINGS);
  list.action(async ({ email, json }) => {
    const { listTokens, tokenTable, withDatabase } = await records();
    const tokens = await withDatabase(recordOf(list), false, (store) =>
      listTokens(store, { email }),
    );
    terminal.print(json ? JSON.stringify(tokens) : tokenTable(tokens));
  });

  const revoke = token
    .command('revoke')
    .description('revoke an API token: it is refused from now on')
    .requiredOption('--id <id>', 'id of the token, as "token list" shows it', parseId);
  addSettings(revoke, RECORD_SETTINGS);
  revoke.action(async ({ id }) => {
    const { withDatabase } = await records();
    await withDatabase(recordOf(revoke), false, (store) =>
      store.revokeApiToken({ account: null, id }),
    );
    terminal.print(JSON.stringify({ id, revoked: true }));
  });
}

/** Says where something was made: what is in another record than the server's is none to it. */
export function sayWhere(terminal: Terminal, place: DatabaseLocation): void {
  terminal.complain(`fourbeat: made in the database in ${nameOfPlace(place)}`);
}

async function records() {
  return { ...(await import('./accounts.ts')), ...(await import('./record.ts')) };
}
