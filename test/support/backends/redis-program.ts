import { Redis } from 'ioredis';

/** The Redis program for tests. @throws Error with the command that installs it */
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

/** Sends commands to a server, all on one connection. */
export interface CommandConnection {
  /** @throws Error with an error reply, or when the server cannot be reached */
  command(...words: (string | number)[]): Promise<unknown>;
  close(): void;
}

/** Connects to a server on a local port, for many commands. */
export function openCommandConnection(port: number): CommandConnection {
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
  return {
    async command(...words) {
      const [name = 'PING', ...rest] = words;
      if (client.status === 'wait') await client.connect();
      return client.call(String(name), ...rest);
    },
    close: () => client.disconnect(),
  };
}

/**
 * Sends one command to a server on a local port, on a separate connection.
 * @throws Error with an error reply, or when the server cannot be reached
 */
export async function redisCommand(port: number, ...words: (string | number)[]): Promise<unknown> {
  const connection = openCommandConnection(port);
  try {
    return await connection.command(...words);
  } finally {
    connection.close();
  }
}
