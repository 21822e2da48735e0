import type { Command } from '@commander-js/extra-typings';
import { addSettings, RECORD_SETTINGS, recordOf } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** `key rotate` (SPEC O-5, T-15). */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('keys that viewer tokens are signed with');
  const rotate = key
    .command('rotate')
    .description(
      'make a new signing key; a running server publishes it within 10 s, and signs with it 11 minutes later',
    );
  addSettings(rotate, RECORD_SETTINGS);
  rotate.action(async () => {
    const { withDatabase } = await import('./record.ts');
    const { newSigningKey } = await import('../auth/viewer-tokens/keyring.ts');
    const offered = await newSigningKey();
    const keys = await withDatabase(recordOf(rotate), false, (store, nowMs) =>
      store.rotateSigningKeys({ offered, force: true, nowMs }),
    );
    const newest = keys.at(-1);
    if (!newest) throw new Error('the database has no signing key');
    if (newest.kid !== offered.kid) {
      terminal.complain('fourbeat: a new key is waiting for its turn already; none was made');
    }
    terminal.print(JSON.stringify({ kid: newest.kid, activeFrom: newest.activeFrom }));
  });
}
