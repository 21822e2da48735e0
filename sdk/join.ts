import { pageStorage, realEnvironment } from './environment.ts';
import { type JoinOptions, urlsOf } from './join-options.ts';
import type { Viewer } from './viewer.ts';
import { ViewerSession } from './viewer-session.ts';

const CATCH_UP_MS = 60_000;

/**
 * Watches a stream: gets a token, is counted, reads the feed, and goes on doing so until `leave`.
 * What goes wrong on the way is in the viewer's `state` and `snapshot.trouble`, and is tried again.
 * @throws TypeError when an option is missing
 */
export function join(options: JoinOptions): Viewer {
  const { streamId, viewerId, name, getToken, storage = pageStorage() } = options;
  for (const id of ['streamId', 'viewerId'] as const) {
    if (!options[id]) throw new TypeError(`${id} is missing`);
  }
  const session = new ViewerSession({
    env: { ...realEnvironment(), ...options.environment },
    urls: urlsOf(options),
    streamId,
    viewerId,
    name,
    getToken,
    storage,
    transport: options.transport ?? 'auto',
    hiddenMs: options.hiddenMs ?? Number.POSITIVE_INFINITY,
    catchUpMs: options.catchUpMs ?? CATCH_UP_MS,
  });
  session.start();
  return session;
}
