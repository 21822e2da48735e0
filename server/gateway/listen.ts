import { randomBytes } from 'node:crypto';
import type { Listener } from '../http/address.ts';
import { Front } from './gateway.ts';
import type { GatewayBackend } from './gateway-backend.ts';
import { type InnerServerOptions, serveInside } from './origin-server.ts';
import { Relay } from './relay.ts';
import { newSocketPlace } from './socket-path.ts';

export interface ListenOptions<Data> extends Omit<InnerServerOptions<Data>, 'path'> {
  /** null: every address, IPv6 too where there is any. */
  readonly host: string | null;
  /** 0: a free one. */
  readonly port: number;
  /** What the front answers by itself; without it nothing. */
  readonly front?: GatewayBackend;
  /** Let an edge that checks tokens itself keep sealed intervals. */
  readonly edgeCache?: boolean;
  /** Learns where it listens, and who asks. */
  readonly listener?: Listener;
}

/** A server that listens: a front on the port, and the whole of HTTP behind it. */
export interface Listening {
  readonly port: number;
  /** Where a person on this machine reaches it. */
  readonly url: string;
  /** Closes the port, and resolves when all answers are written. */
  drain(): Promise<void>;
  /** Cuts what is left. */
  stop(): Promise<void>;
}

// How often the requests that are still being answered are counted during the drain.
const DRAIN_POLL_MS = 10;

/** The server of all of HTTP, which fronts pass requests on to. */
export interface Inside {
  /** Where it listens, for `Relay`. */
  readonly path: string;
  readonly secret: string;
  /** Lets the listener know who asks. */
  introduce(listener: Listener, port: number): void;
  /** Cuts what is left. */
  stop(): Promise<void>;
}

/** Begins to answer what fronts pass on. */
export function openInside<Data>(options: Omit<InnerServerOptions<Data>, 'path'>): Inside {
  const { path, remove } = newSocketPlace();
  const secret = randomBytes(16).toString('hex');
  const inner = serveInside({ ...options, path });
  return {
    path,
    secret,
    introduce(listener, port) {
      listener.server = { requestIP: (request) => inner.requestIP(request), port };
      listener.relaySecret = secret;
    },
    async stop() {
      await inner.stop(true);
      remove();
    },
  };
}

/** Begins to answer. @throws Error with a line for the operator when the port cannot be had */
export function listen<Data>(options: ListenOptions<Data>): Listening {
  const { host, port, corsOrigin, edgeCache = false, log, listener } = options;
  const inside = openInside(options);
  const relay = new Relay(inside);

  let isStopped = false;
  async function stop(): Promise<void> {
    isStopped = true;
    relay.close();
    await inside.stop();
  }

  try {
    const front = new Front({
      host,
      port,
      relay,
      corsOrigin,
      edgeCache,
      service: options.front ?? null,
      onDefect: (error) => log.broken({ method: 'GET', path: 'unknown' }, 'front', error),
    });
    if (listener) inside.introduce(listener, front.port);
    const stopAll = () => {
      front.stop();
      return stop();
    };
    return {
      port: front.port,
      url: urlOf(host, front.port),
      stop: stopAll,
      async drain() {
        front.close();
        while (!isStopped && front.pending() + relay.underWay() > 0) await Bun.sleep(DRAIN_POLL_MS);
        await stopAll();
      },
    };
  } catch (error) {
    void stop();
    throw error;
  }
}

/** Where a person on this machine reaches what listens there. */
export function urlOf(host: string | null, port: number): string {
  const name = host === null || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
