import type { RedisValue } from '../../../../server/storage/redis/redis.ts';
import type {
  ConnectionEnvironment,
  Transport,
  TransportEvents,
} from '../../../../server/storage/redis/transport.ts';
import { bytesOfArgument, clientReply } from './bytes.ts';
import type { Reply } from './commands/command.ts';
import { type Deliver, OrderedChannel } from './ordered-channel.ts';
import { RedisError } from './redis-error.ts';
import type { ServerConnection } from './server-connection.ts';

/** The network between a node and the server. */
export interface RedisLink {
  /** Delivers a message of the node to the server, once, later or never. */
  readonly toServer: Deliver;
  /** Delivers a message of the server to the node. */
  readonly toClient: Deliver;
}

/** A server that accepts connections: a `RedisModel`. */
export interface AcceptingServer {
  accept(onEnd: () => void): ServerConnection | null;
}

export interface ModelEnvironmentOptions {
  readonly server: AcceptingServer;
  readonly link: RedisLink;
  /** The monotonic clock, timers and randomness of the node. */
  readonly timers: Pick<ConnectionEnvironment, 'monotonicMs' | 'setTimer' | 'random'>;
}

/** The environment of a node's connections: `openRedis` connects to a model with it. */
export interface ModelEnvironment extends ConnectionEnvironment {
  /** Cuts all connections: both ends notice at once. Messages under way are lost. */
  cut(): void;
  /** The process of the node ended: its connections close, and nothing is left to notice it. */
  abandon(): void;
}

/** Creates the environment of the connections of one node. */
export function createModelEnvironment(options: ModelEnvironmentOptions): ModelEnvironment {
  const { server, link, timers } = options;
  const open = new Set<ModelTransport>();
  return {
    createTransport(_, events) {
      const transport = new ModelTransport(server, link, events, () => open.delete(transport));
      open.add(transport);
      return transport;
    },
    monotonicMs: () => timers.monotonicMs(),
    setTimer: (run, ms) => timers.setTimer(run, ms),
    // Arrivals of the same moment are delivered before the timer.
    afterInput: (run) => void timers.setTimer(run, 0),
    random: () => timers.random(),
    cut: () => {
      for (const transport of [...open]) transport.cut();
    },
    abandon: () => {
      for (const transport of open) transport.abandon();
    },
  };
}

/** One connection over the link. */
class ModelTransport implements Transport {
  private readonly toServer: OrderedChannel;
  private readonly toClient: OrderedChannel;
  private atServer: ServerConnection | null = null;
  private readonly pending = new Set<(error: Error) => void>();
  private ended = false;

  constructor(
    private readonly server: AcceptingServer,
    link: RedisLink,
    private readonly events: TransportEvents,
    private readonly onClosed: () => void,
  ) {
    this.toServer = new OrderedChannel(link.toServer);
    this.toClient = new OrderedChannel(link.toClient);
  }

  connect(): Promise<void> {
    return this.request<void>((resolve, reject) => {
      this.atServer = this.server.accept(() => this.toClient.send(() => this.end('closed')));
      if (this.atServer) this.toClient.send(resolve);
      else this.toClient.send(() => reject(new Error('connect ECONNREFUSED')));
    });
  }

  send(words: readonly RedisValue[]): Promise<unknown> {
    return this.request((resolve, reject) => {
      this.atServer?.receive(words.map(bytesOfArgument), (reply: Reply | RedisError) => {
        this.toClient.send(() => {
          if (reply instanceof RedisError) reject(replyError(reply));
          else resolve(clientReply(reply));
        });
      });
    });
  }

  cork(): void {}

  disconnect(): void {
    if (this.ended) return;
    // Commands that were sent before arrive first.
    this.toServer.send(() => this.atServer?.close());
    this.end('disconnected');
  }

  /** Ends the side of the server. */
  abandon(): void {
    this.ended = true;
    this.atServer?.close();
  }

  /** Ends both sides now. */
  cut(): void {
    this.atServer?.close();
    this.end('read ECONNRESET');
  }

  /** Sends a message to the server. Its reply settles the promise, and also the end of the connection. */
  private request<T>(
    atServer: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.ended) {
        reject(new Error('the connection has ended'));
        return;
      }
      this.pending.add(reject);
      const settle = (finish: () => void) => {
        if (!this.pending.delete(reject)) return;
        this.events.onData();
        finish();
      };
      this.toServer.send(() =>
        atServer(
          (value) => settle(() => resolve(value)),
          (error) => settle(() => reject(error)),
        ),
      );
    });
  }

  private end(reason: string): void {
    if (this.ended) return;
    this.ended = true;
    this.onClosed();
    const rejections = [...this.pending];
    this.pending.clear();
    this.events.onError(new Error(reason));
    this.events.onEnd();
    for (const reject of rejections) reject(new Error(reason));
  }
}

function replyError({ message }: RedisError): Error {
  const error = new Error(message);
  error.name = 'ReplyError';
  return error;
}
