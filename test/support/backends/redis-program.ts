import { Redis } from 'ioredis';

/** The program to test with. @throws Error that says how to get one */
export function redisBinary(): string {
  const chosen = Bun.env.FOURBEAT_TEST_REDIS;
  const found = chosen
    ? Bun.which(chosen)
    : (Bun.which('redis-server') ?? Bun.which('valkey-server'));
  if (found) return found;
  throw new Error(
    chosen
      ? `FOURBEAT_TEST_REDIS=${chosen} cannot be run`
      : 'tests need redis-server or valkey-server; on Debian and Ubuntu: ' +
          'sudo apt-get install -y redis-server',
  );
}

/**
 * One command to the server on a port of this machine, on a connection of its own.
 * @throws Error with what the server answers, or that it cannot be reached
 */
export async function redisCommand(port: number, ...words: (string | number)[]): Promise<unknown> {
  const [name = 'PING', ...rest] = words;
  const client = new Redis({
    port,
    host: '127.0.0.1',
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: null,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    protocol: 2,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.call(String(name), ...rest);
  } finally {
    client.disconnect();
  }
}
