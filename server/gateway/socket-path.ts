import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a unix socket of this process may be. */
export interface SocketPlace {
  readonly path: string;
  /** Takes away what was made for it. */
  remove(): void;
}

/**
 * A place that no other process has. Linux has names for sockets that are no files (unix(7), abstract):
 * a kill leaves nothing behind, and who tidies up temporary folders takes nothing away. Every process of
 * the same network namespace may connect to it, past the rules for the port, and finds there what the
 * port gives: each route asks for its credentials, and who is no front is believed no address
 * (docs/operations.md, Security). Elsewhere it is a folder for its owner only.
 */
export function newSocketPlace(platform: NodeJS.Platform = process.platform): SocketPlace {
  if (platform === 'linux') {
    return { path: `\0fourbeat-${crypto.randomUUID()}`, remove: () => {} };
  }
  const folder = mkdtempSync(join(tmpdir(), 'fourbeat-'));
  return {
    path: join(folder, 'http'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
