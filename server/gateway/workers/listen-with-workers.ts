import type { Listener } from '../../http/address.ts';
import { type ListeningServer, type ListenOptions, localUrl } from '../listen.ts';
import { openOriginServer } from '../origin-server.ts';
import { listenTcp } from '../tcp-listener.ts';
import type { WorkerPool } from './worker-pool.ts';

/**
 * Starts worker threads that listen on the port, with the origin server on this thread behind them.
 * @throws Error with a message for the operator when it cannot listen on the port
 */
export async function listenWithWorkers<Data>(
  workers: WorkerPool,
  options: ListenOptions<Data> & { readonly listener: Listener },
): Promise<ListeningServer> {
  const { host, corsOrigin, edgeCache = false, listener } = options;
  const port = findPort(host, options.port);
  const origin = openOriginServer(options);
  const { path, secret } = origin;
  async function stop(): Promise<void> {
    workers.stop();
    await origin.stop();
  }
  try {
    await workers.start({ host, port, path, secret, corsOrigin, edgeCache });
    origin.attach(listener, port);
    return {
      port,
      url: localUrl(host, port),
      async drain() {
        await workers.close();
        await stop();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Finds the port: `requested`, or a free one for 0. Workers listen with `reusePort`, which would silently
 * share the port with another service. This thread first listens for a moment without it to detect that.
 * @throws Error with a message for the operator
 */
function findPort(host: string | null, requested: number): number {
  const listener = listenTcp(host, requested, false, { data: () => {} });
  const { port } = listener;
  listener.stop(true);
  return port;
}
