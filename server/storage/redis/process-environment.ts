import { Redis, type RedisOptions } from 'ioredis';
import { runtime } from '../../platform/runtime.ts';
import type { RedisValue } from './redis.ts';
import type { ConnectionEnvironment, Transport, TransportEvents } from './transport.ts';

const CONNECTION_OPTIONS: RedisOptions = {
  lazyConnect: true,
  disconnectTimeout: 100,
  // One client per connection: a new client resolves the host name again, and has no commands left from
  // the last connection.
  retryStrategy: null,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  enableReadyCheck: false,
  disableClientInfo: true,
  protocol: 2,
};

/** The network by ioredis, and the clock and timers of the process. */
export const PROCESS_ENVIRONMENT: ConnectionEnvironment = {
  createTransport: createSocketTransport,
  monotonicMs: () => runtime.monotonicMs(),
  setTimer(run, ms) {
    const timer = runtime.setTimeout(run, ms);
    return () => runtime.clearTimer(timer);
  },
  afterInput: (run) => runtime.setImmediate(run),
  random: () => runtime.random(),
};

function createSocketTransport(options: RedisOptions, events: TransportEvents): Transport {
  const client = new Redis({ ...options, ...CONNECTION_OPTIONS, replyMapping: 'legacy' });
  client.on('error', events.onError);
  // Any byte counts as a response: large replies arrive in many pieces.
  client.on('connect', () => client.stream.on('data', events.onData));
  client.on('end', events.onEnd);
  return {
    connect: () => client.connect(),
    send(words) {
      const [name, ...values] = words.map(toArgument);
      return client.callBuffer(String(name), ...values);
    },
    cork() {
      const { stream } = client;
      if (!stream) return;
      stream.cork();
      process.nextTick(() => stream.uncork());
    },
    disconnect: () => client.disconnect(),
  };
}

function toArgument(value: RedisValue): string | Buffer {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
