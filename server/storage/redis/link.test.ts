import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type RedisServer, startRedis } from '../../../test/support/backends/redis.ts';
import { Unavailable } from '../../platform/errors.ts';
import { Link } from './link.ts';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ persistence: false });
});
afterAll(() => server.stop());

const linkTo = (port: number, takesOver = false) =>
  new Link({
    target: async () => ({ host: '127.0.0.1', port }),
    greet: async () => {},
    takesOver,
  });

test('[N-14] what may have been written on another server or connection is known', async () => {
  const first = linkTo(server.port);
  const successor = linkTo(server.port, true);
  try {
    await Promise.all([first.opened(), successor.opened()]);
    expect(successor.wroteElsewhere()).toBe(true);
    expect(first.wroteElsewhere()).toBe(false);
    await first.send(['SET', 'a', 'b']);
    first.leave('for a better one');
    expect(first.wroteElsewhere()).toBe(true);
  } finally {
    first.close();
    successor.close();
  }
});

test('[N-9] the first call waits for the first connection, and later ones for none', async () => {
  const link = linkTo(server.port);
  expect(String(await link.send(['PING']))).toBe('PONG');
  link.leave('to see what calls hear');
  const error = await link.send(['PING']).catch((e: Error) => e);
  expect(error).toBeInstanceOf(Unavailable);
  expect(String(error)).toContain('to see what calls hear');
  link.close();
  expect(await link.send(['PING']).catch((e: Error) => e)).toBeInstanceOf(Unavailable);
});

test('closed while it connects, it stays closed', async () => {
  const link = linkTo(server.port);
  link.close();
  expect(await link.opened().catch((e: Error) => e)).toBeInstanceOf(Unavailable);
  expect(link.unavailable()).toBe('closed');
  await Bun.sleep(300);
  const clients = String(await server.command('CLIENT', 'LIST', 'TYPE', 'normal'));
  expect(clients.trim().split('\n')).toHaveLength(1);
});

test('values that were sent are not in what a server says of an unknown command', async () => {
  const link = linkTo(server.port);
  const error = await link.send(['NO-SUCH', 's3cret']).catch((e: Error) => e);
  expect(String(error)).toContain('unknown command');
  expect(Bun.inspect(error)).not.toContain('s3cret');
  link.close();
});
