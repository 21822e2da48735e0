import type { Command } from '@commander-js/extra-typings';
import { reportLocation } from './account-commands.ts';
import { addSettings, DATABASE_SETTINGS, databaseLocationOf } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { parseEmail } from './values.ts';

/** `member link` (SPEC U). Loads the database code only when the command runs. */
export function addMemberCommands(program: Command, terminal: Terminal): void {
  const member = program
    .command('member')
    .description('manage the people who sign in to the studio');
  const link = member
    .command('link')
    .description(
      'print a link to set a new password, or to add the owner of an account without members; it works once, within 24 h',
    )
    .requiredOption('--email <address>', 'email of the member or of the account', parseEmail);
  addSettings(link, [...DATABASE_SETTINGS, 'publicUrl', 'port']);
  link.action(async ({ email }) => {
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
      newMemberLink(store, email, origin, nowMs),
    );
    if (created === null) throw new Error(`no member or account has the email ${email}`);
    reportLocation(terminal, location);
    terminal.print(JSON.stringify(created));
  });
}
