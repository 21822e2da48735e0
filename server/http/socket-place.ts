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
 * a kill leaves nothing behind, and who tidies up temporary folders takes nothing away. Whoever may
 * connect to them may connect to the port as well. Elsewhere it is a folder for its owner only.
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
