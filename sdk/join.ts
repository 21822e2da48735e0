import type { JoinOptions } from './join-options.ts';
import type { Viewer } from './viewer.ts';
import { ViewerSession } from './viewer-session.ts';

/**
 * Watches a stream: gets a token, is counted, reads the feed, and goes on doing so until `leave`.
 * What goes wrong on the way is in the viewer's `state` and `snapshot.trouble`, and is tried again.
 * @throws TypeError when an option is missing
 */
export function join(options: JoinOptions): Viewer {
  const viewer = new ViewerSession(options);
  void viewer.start();
  return viewer;
}
