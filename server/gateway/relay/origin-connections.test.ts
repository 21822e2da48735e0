import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepingIterators } from '../../../test/support/kept-iterators.ts';
import { createOpenFiles } from '../../platform/open-files.ts';
import {
  type OriginConnection,
  OriginConnectionPool,
  type OriginConnectionUser,
} from './origin-connections.ts';

const USERS = 1_000;
const USERS_AT_ONCE = 20;

/** Dials for a user, who ends as soon as it has a connection. @returns a weak reference to the user */
async function serveOne(pool: OriginConnectionPool, canShare: boolean) {
  const connected = Promise.withResolvers<OriginConnection>();
  const user: OriginConnectionUser = {
    wantsConnection: true,
    canShare,
    onConnected: connected.resolve,
    onOriginData: () => {},
    onOriginDrain: () => {},
    onOriginClose: () => {},
  };
  const reference = new WeakRef(user);
  pool.dial(user);
  const connection = await connected.promise;
  if (canShare) pool.release(connection);
  else connection.destroy();
  return reference;
}

test('a pool keeps no user that has ended, even if every iterator is kept', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-pool-'));
  const path = join(directory, 'origin.sock');
  const server = Bun.listen({ unix: path, socket: { data: () => {} } });
  const pool = new OriginConnectionPool(path, createOpenFiles());
  try {
    const users: WeakRef<OriginConnectionUser>[] = [];
    await keepingIterators(async () => {
      while (users.length < USERS) {
        const served = Array.from({ length: USERS_AT_ONCE }, (_, n) => serveOne(pool, n % 2 === 0));
        users.push(...(await Promise.all(served)));
      }
      Bun.gc(true);
      expect(users.filter((user) => user.deref() !== undefined).length).toBeLessThan(USERS / 10);
    });
  } finally {
    pool.close();
    server.stop(true);
    rmSync(directory, { recursive: true });
  }
});
