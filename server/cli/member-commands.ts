import type { Command } from '@commander-js/extra-typings';
import { DomainError } from '../platform/errors.ts';
import { reportLocation } from './account-commands.ts';
import { addSettings, DATABASE_SETTINGS, databaseLocationOf } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { parseAccount, parseEmail } from './values.ts';

/** `member link` and `remove` (SPEC U). Loads the database code only when a command runs. */
export function addMemberCommands(program: Command, terminal: Terminal): void {
  const member = program
    .command('member')
    .description('manage the people who sign in to the studio');
  addLinkCommand(member, terminal);
  addRemoveCommand(member, terminal);
}

function addLinkCommand(member: Command, terminal: Terminal): void {
  const link = member
    .command('link')
    .description(
      'print a link to set the password of a member, or to add an owner to an account, with the account that it opens; it works once, within 24 h',
    )
    .requiredOption('--email <address>', 'email of the member or of the account', parseEmail)
    .option(
      '--account <account>',
      'email or id of the account that the link must open; needed when a member of another account has the email',
      parseAccount,
    );
  addSettings(link, [...DATABASE_SETTINGS, 'publicUrl', 'port']);
  link.action(async ({ email, account = null }) => {
    const { withDatabase } = await import('./with-database.ts');
    const { newMemberLink } = await import('../auth/members/links.ts');
    const { publicUrl, port } = link.opts() as { publicUrl?: string; port?: number };
    const { readServerUrl } = await import('../storage/sql/lock.ts');
    const location = databaseLocationOf(link);
    // A running service knows its port best, unless a flag or variable sets it here.
    const isPortSet = link.getOptionValueSource('port') !== 'default';
    const runningUrl = isPortSet || location.database ? null : readServerUrl(location.data);
    const origin = publicUrl || runningUrl || `http://localhost:${port}`;
    const created = await withDatabase(location, false, (store, nowMs) =>
      newMemberLink(store, { email, account }, origin, nowMs),
    );
    if (created === null) throw new Error(`no member or account has the email ${email}`);
    reportLocation(terminal, location);
    terminal.print(JSON.stringify(created));
  });
}

function addRemoveCommand(member: Command, terminal: Terminal): void {
  const remove = member
    .command('remove')
    .description(
      'remove a member from its account; its sessions and links end within a second, and its email is free',
    )
    .requiredOption('--email <address>', 'email of the member', parseEmail)
    .option(
      '--last-owner',
      'also if no owner is left; "member link --account" adds one, and API tokens and other members stay',
    );
  addSettings(remove, DATABASE_SETTINGS);
  remove.action(async ({ email, lastOwner = false }) => {
    const { withDatabase } = await import('./with-database.ts');
    const location = databaseLocationOf(remove);
    const removed = await withDatabase(location, false, async (store) => {
      const found = await store.findMember({ email });
      if (found === null) throw new Error(`no member has the email ${email}`);
      const { uuid, account } = found;
      await store.removeMember({ account: account.uuid, uuid, by: null, lastOwner });
      return found;
    }).catch((error) => {
      const isLastOwner = error instanceof DomainError && error.kind === 'conflict';
      throw isLastOwner ? new Error(`${error.message} Or add --last-owner.`) : error;
    });
    reportLocation(terminal, location);
    terminal.print(JSON.stringify({ ...removed, removed: true }));
  });
}
