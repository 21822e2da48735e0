import type { Listener } from '../../http/address.ts';
import { type Listening, type ListenOptions, openInside, urlOf } from '../listen.ts';
import { listenOn } from '../port.ts';
import type { ViewerThreads } from './worker-pool.ts';

/**
 * Begins to answer: the threads on the port, and the whole of HTTP in this one behind them.
 * @throws Error with a line for the operator when the port cannot be had
 */
export async function listenByThreads<Data>(
  threads: ViewerThreads,
  options: ListenOptions<Data> & { readonly listener: Listener },
): Promise<Listening> {
  const { host, corsOrigin, edgeCache = false, listener } = options;
  const port = freePort(host, options.port);
  const inside = openInside(options);
  const { path, secret } = inside;
  async function stop(): Promise<void> {
    threads.stop();
    await inside.stop();
  }
  try {
    await threads.begin({ host, port, path, secret, corsOrigin, edgeCache });
    inside.introduce(listener, port);
    return {
      port,
      url: urlOf(host, port),
      async drain() {
        await threads.close();
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
 * The port, or a free one for 0. Threads share a port, so they would share it with another service,
 * too, without a word: it is taken for a moment by this thread alone.
 * @throws Error with a line for the operator
 */
function freePort(host: string | null, asked: number): number {
  const listener = listenOn(host, asked, false, { data: () => {} });
  const { port } = listener;
  listener.stop(true);
  return port;
}
