import type { Command } from '@commander-js/extra-typings';
import { addSettings, DATABASE_SETTINGS, databaseLocationOf } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** `key rotate` (SPEC O-5, T-15). */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('manage the signing keys of viewer tokens');
  const rotate = key
    .command('rotate')
    .description(
      'create a signing key; a running server publishes it within 10 s and signs with it 11 minutes later',
    );
  addSettings(rotate, DATABASE_SETTINGS);
  rotate.action(async () => {
    const { withDatabase } = await import('./with-database.ts');
    const { newSigningKey } = await import('../auth/viewer-tokens/keyring.ts');
    const offered = await newSigningKey();
    const keys = await withDatabase(databaseLocationOf(rotate), false, (store, nowMs) =>
      store.rotateSigningKeys({ offered, force: true, nowMs }),
    );
    const newest = keys.at(-1);
    if (!newest) throw new Error('the database has no signing key');
    if (newest.kid !== offered.kid) {
      terminal.printError(
        'fourbeat: a new key is already waiting to become active; no key was created',
      );
    }
    terminal.print(JSON.stringify({ kid: newest.kid, activeFrom: newest.activeFrom }));
  });
}
