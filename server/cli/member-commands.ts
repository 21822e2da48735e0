import type { Command } from '@commander-js/extra-typings';
import { sayWhere } from './account-commands.ts';
import { addSettings, RECORD_SETTINGS, recordOf } from './settings.ts';
import type { Terminal } from './terminal.ts';
import { parseEmail } from './values.ts';

/** `member link` (SPEC U). Code that opens the database is loaded when it is needed. */
export function addMemberCommands(program: Command, terminal: Terminal): void {
  const member = program.command('member').description('people who sign in to the studio');
  const link = member
    .command('link')
    .description(
      'print a link, good once and for 24 h, by which a member sets a new password, or an account without one gets its owner',
    )
    .requiredOption('--email <address>', 'email of the member or of the account', parseEmail);
  addSettings(link, [...RECORD_SETTINGS, 'publicUrl', 'port']);
  link.action(async ({ email }) => {
    const { withDatabase } = await import('./record.ts');
    const { newMemberLink } = await import('../auth/members/links.ts');
    const { publicUrl, port } = link.opts() as { publicUrl?: string; port?: number };
    const origin = publicUrl || `http://localhost:${port}`;
    const place = recordOf(link);
    const made = await withDatabase(place, false, (store, nowMs) =>
      newMemberLink(store, email, origin, nowMs),
    );
    if (made === null) throw new Error(`there is no member and no account with the email ${email}`);
    sayWhere(terminal, place);
    terminal.print(JSON.stringify(made));
  });
}
