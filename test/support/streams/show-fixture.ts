import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { intervalStartMs } from '../../../protocol/interval.ts';
import { procedures } from '../../../server/app/procedures.ts';
import type { SealedBody } from '../../../server/realtime/feed/sealed-sql.ts';
import type { Sealing } from '../../../server/realtime/feed/sealing-sql.ts';
import {
  type DirectDatabase,
  openDirectDatabase,
} from '../../../server/storage/sql/database-direct.ts';

/** The start of the show, at the start of an interval, Unix ms. */
export const SHOW_START_MS = intervalStartMs(7_000_000_000);

/** The account that owns the streams. */
export const PRODUCER = '11111111-1111-4111-8111-111111111111';

/** A new stream, as `createStream` takes it. */
export const STREAM = {
  title: 'A show',
  dash_url: null,
  hls_url: null,
  unlisted: false,
  latencyAllowance: 0,
  recording: false,
  autoStart: true,
  keepOpen: false,
};

/** A uuid that ends with `number`, for readable failures. */
export const uuidOf = (number: number): string =>
  `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** An SQLite database in a temporary directory with an account and streams, for model tests. */
export interface Show {
  /** The directory of the database. */
  readonly directory: string;
  readonly store: DirectDatabase<typeof procedures>['store'];
  /** Closes the database and opens it again, as a restart does. */
  restart(): Promise<void>;
  /** Closes the database and removes its directory. */
  close(): Promise<void>;
}

/** Seals an interval of the show. @returns the sealed bodies @throws Error if nothing was sealed */
export async function sealShow(show: Show, sealing: Sealing): Promise<readonly SealedBody[]> {
  const sealed = await show.store.sealInterval(sealing);
  if (sealed.outcome !== 'sealed') throw new Error(`not sealed: ${JSON.stringify(sealed)}`);
  return sealed.bodies;
}

/** Creates a show with streams. @param latencyAllowanceMs the allowance of each stream */
export async function openShow(
  streamIds: readonly string[],
  latencyAllowanceMs = 0,
): Promise<Show> {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-model-'));
  let opened = await openDirectDatabase(procedures, directory);
  await opened.store.createAccount({
    user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: SHOW_START_MS },
    token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
    nowMs: SHOW_START_MS,
  });
  for (const id of streamIds) {
    await opened.store.createStream({
      id,
      producer: PRODUCER,
      stream: { ...STREAM, latencyAllowance: latencyAllowanceMs },
      nowMs: SHOW_START_MS,
    });
  }
  return {
    directory,
    get store() {
      return opened.store;
    },
    async restart() {
      await opened.close();
      opened = await openDirectDatabase(procedures, directory);
    },
    async close() {
      await opened.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
