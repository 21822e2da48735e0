import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN_POSTGRES = '/usr/lib/postgresql';
// Folders that only root has in PATH.
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

/**
 * The path of a server program: in PATH, or in Debian's folder of the newest PostgreSQL.
 * @throws Error with the command that installs it
 */
export function binaryOf(program: string, debianPackage = 'postgresql'): string {
  const path = (process.env.PATH ?? '').split(':').filter(Boolean);
  const folders = [...path, ...SYSTEM_FOLDERS, ...debianPostgres()];
  const found = folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
  if (!found) {
    throw new Error(
      `${program} is not installed: apt-get install --no-install-recommends ${debianPackage}`,
    );
  }
  return found;
}

function debianPostgres(): string[] {
  if (!existsSync(DEBIAN_POSTGRES)) return [];
  return readdirSync(DEBIAN_POSTGRES)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_POSTGRES, version, 'bin'));
}

/** An unprivileged user, and the command prefix that runs a command as that user. */
export interface UnprivilegedUser {
  readonly uid: number;
  readonly gid: number;
  readonly command: readonly string[];
}

/** The user `name`, or else `nobody`, if this process runs as root; otherwise null. */
export function unprivileged(name: string): UnprivilegedUser | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const fields = [name, 'nobody']
    .map((user) => users.find((line) => line.startsWith(`${user}:`))?.split(':'))
    .find((line) => line !== undefined);
  if (!fields) throw new Error(`there is neither a user ${name} nor nobody`);
  const [uid, gid] = [Number(fields[2]), Number(fields[3])];
  return {
    uid,
    gid,
    command: ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
  };
}
