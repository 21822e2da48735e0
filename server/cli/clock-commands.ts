import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { addSettings, DATABASE_SETTINGS, databaseLocationOf } from './settings.ts';
import type { Terminal } from './terminal.ts';

/** Nodes seal four intervals a second: a watermark that stands still this long has none. */
const WATCH_MS = 2_000;

/** `clock set-back` (SPEC K-7). Loads the database code only when the command runs. */
export function addClockCommands(program: Command, terminal: Terminal): void {
  const clock = program.command('clock').description('correct service time');
  const setBack = clock
    .command('set-back')
    .description(
      'set service time back to the system clock after that was hours ahead; stop the service before',
    )
    .option('--yes', 'do it; without this flag, print only what it would do');
  addSettings(setBack, DATABASE_SETTINGS);
  setBack.action(async ({ yes = false }) => {
    const { withDatabase } = await import('./with-database.ts');
    const { lockDirectory } = await import('../storage/sql/lock.ts');
    const { DATABASE_FILE } = await import('../storage/sql/sqlite.ts');
    const { runtime } = await import('../platform/runtime.ts');
    const location = databaseLocationOf(setBack);
    // The lock creates its directory, also where the path is wrong; `withDatabase` reports that.
    const hasFile = location.database === null && existsSync(join(location.data, DATABASE_FILE));
    const lock = hasFile ? lockDirectory(location.data) : null;
    try {
      await withDatabase(location, false, async (store) => {
        const before = await store.readWatermark({});
        if (location.database !== null) await runtime.sleep(WATCH_MS);
        const systemMs = runtime.systemMs();
        const { watermark, aheadMs, streams } = await store.planSetBack({ systemMs });
        if (watermark !== before) {
          throw new Error('a node is running on this database; stop all nodes first');
        }
        if (yes) await store.setServiceTimeBack({ systemMs });
        terminal.print(JSON.stringify({ done: yes, aheadMs, endedStreams: streams }));
        if (!yes) terminal.printError('fourbeat: nothing was changed; add --yes to do it');
      });
    } finally {
      lock?.release();
    }
  });
}
