import { existsSync } from 'node:fs';
import { binaryOf } from '../../test/support/backends/server-programs.ts';

/** Module of nginx that holds requests until something is published. */
export const NCHAN_MODULE = '/usr/lib/nginx/modules/ngx_nchan_module.so';

const IS_THERE = {
  wrk: () => isProgram('wrk'),
  nginx: () => isProgram('nginx'),
  'libnginx-mod-nchan': () => existsSync(NCHAN_MODULE),
  'redis-server': () => isProgram('redis-server'),
  postgresql: () => isProgram('postgres'),
};

/** A Debian package that npm does not install. */
export type Needed = keyof typeof IS_THERE;

/** Those of them that this machine lacks. */
export function missingOf(needs: Iterable<Needed>): Needed[] {
  return [...new Set(needs)].filter((name) => !IS_THERE[name]());
}

function isProgram(name: string): boolean {
  try {
    binaryOf(name);
    return true;
  } catch {
    return false;
  }
}
