import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { Unavailable } from '../../platform/errors.ts';
import { ReconnectingConnection } from './reconnecting-connection.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ persistence: false });
});
afterAll(() => server.stop());

const connectionTo = (port: number, takesOver = false) =>
  new ReconnectingConnection({
    target: async () => ({ host: '127.0.0.1', port }),
    handshake: async () => {},
    takesOver,
  });

test('[N-14] a connection reports writes that another server or connection may have lost', async () => {
  const first = connectionTo(server.port);
  const successor = connectionTo(server.port, true);
  try {
    await Promise.all([first.ready(), successor.ready()]);
    expect(successor.mayHaveLostWrites()).toBe(true);
    expect(first.mayHaveLostWrites()).toBe(false);
    await first.send(['SET', 'a', 'b']);
    first.reconnect('for another server');
    expect(first.mayHaveLostWrites()).toBe(true);
  } finally {
    first.close();
    successor.close();
  }
});

test('[N-9] the first call waits for the first connection, and later calls do not wait', async () => {
  const connection = connectionTo(server.port);
  expect(String(await connection.send(['PING']))).toBe('PONG');
  connection.reconnect('dropped by the test');
  const error = await connection.send(['PING']).catch((e: Error) => e);
  expect(error).toBeInstanceOf(Unavailable);
  expect(String(error)).toContain('dropped by the test');
  connection.close();
  expect(await connection.send(['PING']).catch((e: Error) => e)).toBeInstanceOf(Unavailable);
});

test('a connection that is closed while it connects stays closed', async () => {
  const connection = connectionTo(server.port);
  connection.close();
  expect(await connection.ready().catch((e: Error) => e)).toBeInstanceOf(Unavailable);
  expect(connection.unavailableReason()).toBe('closed');
  await Bun.sleep(300);
  // The only client is the one that sends CLIENT LIST.
  const clients = String(await server.command('CLIENT', 'LIST', 'TYPE', 'normal'));
  expect(clients.trim().split('\n')).toHaveLength(1);
});

test('the error of an unknown command does not contain its arguments', async () => {
  const connection = connectionTo(server.port);
  const error = await connection.send(['NO-SUCH', 's3cret']).catch((e: Error) => e);
  expect(String(error)).toContain('unknown command');
  expect(Bun.inspect(error)).not.toContain('s3cret');
  connection.close();
});
