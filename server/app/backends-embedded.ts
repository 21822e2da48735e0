import { createMemoryChatSource } from '../domains/chat/chat-source-memory.ts';
import { createMemorySlowMode } from '../domains/chat/slow-mode-memory.ts';
import { createSleepMeter } from '../platform/clock.ts';
import { runtime } from '../platform/runtime.ts';
import { createMemoryRealtimeBackend } from '../realtime/coordination/realtime-backend-memory.ts';
import { createServiceClock } from '../realtime/coordination/service-clock.ts';
import { openSqliteDatabase } from '../storage/sql/database-sqlite.ts';
import { type DirectoryLock, lockDirectory } from '../storage/sql/lock.ts';
import type { Backends, BackendsOptions, CreateRealtime } from './backends.ts';
import { procedures } from './procedures.ts';

/**
 * Opens the backends of a service of one process: SQLite in the data directory, and a realtime backend in
 * memory.
 * @throws Error with a line for the operator: the directory is in use, cannot be written, or has a
 *   database of a newer version
 */
export async function openEmbedded(options: BackendsOptions): Promise<Backends> {
  const lock = lockData(options.config.data);
  try {
    return await openOnDirectory(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function lockData(directory: string): DirectoryLock {
  try {
    return lockDirectory(directory);
  } catch (error) {
    // The message starts with the directory.
    throw new Error(`--data ${(error as Error).message}`);
  }
}

async function openOnDirectory(
  { config, logger, onFailed }: BackendsOptions,
  lock: DirectoryLock,
): Promise<Backends> {
  const database = await openSqliteDatabase({
    procedures,
    worker: new URL('./database-worker.ts', import.meta.url),
    directory: config.data,
    onFailed,
  }).catch((error: Error) => {
    throw new Error(`the database in ${config.data} (--data) cannot be opened: ${error.message}`);
  });
  try {
    const watermark = await database.store.readWatermark({});
    return {
      database,
      watermark,
      clock: createServiceClock(runtime.systemMs, watermark, logger, {
        sleptMs: createSleepMeter(),
      }),
      createRealtime: createEmbeddedRealtime,
      servers: [],
      retryUntilAvailable: (work) => work(),
      location: `data in ${config.data}`,
      close: () => database.close(),
      release: () => lock.release(),
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Creates the realtime parts in the memory of this process. */
export const createEmbeddedRealtime: CreateRealtime = async (options) => {
  const chat = createMemoryChatSource(options);
  const realtime = createMemoryRealtimeBackend({ ...options, source: chat });
  return { realtime, chat, slowMode: createMemorySlowMode() };
};
