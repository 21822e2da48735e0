import type { Listener } from '../http/address.ts';
import { createOpenFiles, type OpenFiles } from '../platform/open-files.ts';
import { runtime } from '../platform/runtime.ts';
import { DRAIN_POLL_MS, Gateway, type GatewayOptions } from './gateway.ts';
import { type OriginServerOptions, openOriginServer } from './origin-server.ts';
import { Relay } from './relay/relay.ts';

export interface ListenOptions<Data>
  extends OriginServerOptions<Data>,
    Pick<GatewayOptions, 'host' | 'port'>,
    Partial<Pick<GatewayOptions, 'backend' | 'edgeCache'>> {
  /** Gets the address of the server and the addresses of its clients. */
  readonly listener?: Listener;
  /** By default there is no limit. */
  readonly openFiles?: OpenFiles;
}

/** A gateway that listens on a port, with an origin server behind it. */
export interface ListeningServer {
  readonly port: number;
  /** The URL for a browser on this machine. */
  readonly url: string;
  /** Stops listening, and resolves when all responses are complete. */
  drain(): Promise<void>;
  /** Closes all connections at once. */
  stop(): Promise<void>;
}

/** Starts a gateway and its origin server. @throws Error with a message for the operator */
export function listen<Data>(options: ListenOptions<Data>): ListeningServer {
  const { host, port, corsOrigin, edgeCache = false, backend = null, log, listener } = options;
  const origin = openOriginServer(options);
  const { openFiles = createOpenFiles(Number.POSITIVE_INFINITY) } = options;
  const relay = new Relay({ ...origin, openFiles });

  let isStopped = false;
  async function stopOrigin(): Promise<void> {
    isStopped = true;
    relay.close();
    await origin.stop();
  }

  try {
    const gateway = new Gateway({
      host,
      port,
      relay,
      openFiles,
      corsOrigin,
      edgeCache,
      backend,
      onDefect: (error) => log.logDefect({ method: 'GET', path: 'unknown' }, 'gateway', error),
    });
    if (listener) origin.attach(listener, gateway.port);
    const stop = () => {
      gateway.stop();
      return stopOrigin();
    };
    return {
      port: gateway.port,
      url: localUrl(host, gateway.port),
      stop,
      async drain() {
        gateway.drain();
        while (!isStopped && gateway.pendingResponses() + relay.pendingRequests() > 0) {
          await runtime.sleep(DRAIN_POLL_MS);
        }
        await stop();
      },
    };
  } catch (error) {
    void stopOrigin();
    throw error;
  }
}

/** The URL of a listener for a browser on this machine. @param host null: all addresses */
export function localUrl(host: string | null, port: number): string {
  const name = host === null || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
