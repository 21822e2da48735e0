import type { JoinOptions } from './join-options.ts';
import type { Viewer } from './viewer.ts';
import { ViewerSession } from './viewer-session.ts';

/**
 * Watches a stream: gets a token, sends heartbeats and reads the feed until `leave`. Errors on the way
 * are retried, and shown in the viewer's `state` and `snapshot.error`.
 * @throws TypeError when an option is missing
 */
export function join(options: JoinOptions): Viewer {
  const viewer = new ViewerSession(options);
  void viewer.start();
  return viewer;
}
