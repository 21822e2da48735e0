import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

// The garbage collector also finds iterators on the stack that nothing will use again. One that is not finished
// keeps all that its set or map has later.
test('a pool keeps no user that has ended, even if every iterator is kept', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-pool-'));
  const path = join(directory, 'origin.sock');
  const server = Bun.listen({ unix: path, socket: { data: () => {} } });
  const pool = new OriginConnectionPool(path, createOpenFiles());
  const kept: unknown[] = [];
  const collections = [Set.prototype, Map.prototype];
  const originals = collections.map((each) => each[Symbol.iterator]);
  for (const [index, each] of collections.entries()) {
    Object.assign(each, {
      [Symbol.iterator](this: never) {
        const iterator = (originals[index] as () => unknown).call(this);
        kept.push(iterator);
        return iterator;
      },
    });
  }
  try {
    const users: WeakRef<OriginConnectionUser>[] = [];
    while (users.length < USERS) {
      const served = Array.from({ length: USERS_AT_ONCE }, (_, n) => serveOne(pool, n % 2 === 0));
      users.push(...(await Promise.all(served)));
    }
    Bun.gc(true);
    expect(users.filter((user) => user.deref() !== undefined).length).toBeLessThan(USERS / 10);
  } finally {
    for (const [index, each] of collections.entries()) {
      Object.assign(each, { [Symbol.iterator]: originals[index] });
    }
    pool.close();
    server.stop(true);
    rmSync(directory, { recursive: true });
  }
});
