import { existsSync } from 'node:fs';
import { binaryOf } from '../../test/support/backends/server-programs.ts';

/** The nchan module of nginx, which serves long polls and event streams. */
export const NCHAN_MODULE = '/usr/lib/nginx/modules/ngx_nchan_module.so';

const IS_INSTALLED = {
  wrk: () => isProgram('wrk'),
  nginx: () => isProgram('nginx'),
  'libnginx-mod-nchan': () => existsSync(NCHAN_MODULE),
  'redis-server': () => isProgram('redis-server'),
  postgresql: () => isProgram('postgres'),
};

/** A Debian package that a benchmark needs. */
export type Dependency = keyof typeof IS_INSTALLED;

/** The packages that are not installed on this machine. */
export function missingDependencies(needs: Iterable<Dependency>): Dependency[] {
  return [...new Set(needs)].filter((name) => !IS_INSTALLED[name]());
}

function isProgram(name: string): boolean {
  try {
    binaryOf(name);
    return true;
  } catch {
    return false;
  }
}
