import { heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentClient } from '../../../test/support/gateway/relay-fixture.ts';
import { keepingIterators } from '../../../test/support/kept-iterators.ts';
import { createOpenFiles } from '../../platform/open-files.ts';
import {
  type OriginConnection,
  OriginConnectionPool,
  type OriginConnectionUser,
} from './origin-connections.ts';
import { Relay } from './relay.ts';

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

test('while no file is free, requests that ended keep nothing of their bodies', () => {
  const openFiles = { take: () => false, release: () => {} };
  const relay = new Relay({ path: '/nowhere', secret: '', openFiles });
  // Memory of objects outside the heap, which buffers are.
  const bufferBytes = () => {
    Bun.gc(true);
    return heapStats().extraMemorySize;
  };
  try {
    const before = bufferBytes();
    const requests = Array.from({ length: 100 }, () => {
      const head = 'POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n';
      const relayed = relay.start(silentClient(), Buffer.from(head));
      relayed.onData(Buffer.alloc(100_000));
      return relayed;
    });
    expect(bufferBytes() - before).toBeGreaterThan(9_000_000);
    for (const relayed of requests) relayed.onClose();
    expect(bufferBytes() - before).toBeLessThan(1_000_000);
  } finally {
    relay.close();
  }
});
