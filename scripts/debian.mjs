// What tests start for themselves: Redis, PostgreSQL, nginx and the like. They are not packages of
// npm, so they come from Debian's (or Ubuntu's), where that may be done.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './install.mjs';

/** A program that tests run, and the package that it is in. */
const NEEDED = [
  { program: 'redis-server', package: 'redis-server' },
  { program: 'postgres', package: 'postgresql' },
  { program: 'initdb', package: 'postgresql' },
  { program: 'nginx', package: 'nginx' },
  { program: 'ip', package: 'iproute2' },
  { program: 'openssl', package: 'openssl' },
  { program: 'faketime', package: 'faketime' },
  { program: 'ffmpeg', package: 'ffmpeg' },
  { program: 'ffprobe', package: 'ffmpeg' },
  { program: 'chromium', package: 'chromium' },
];

/** Where a user who is not root does not look by himself. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];
const POSTGRES_VERSIONS = '/usr/lib/postgresql';

/** Asked by Debian's scripts whether a service may be started; 101 means no. */
const POLICY = '/usr/sbin/policy-rc.d';

/**
 * Makes sure that the servers are there which tests start, and installs what is missing where
 * that can be done without a question. None of them is started as a service of the machine.
 * @throws {SetupError} with the command that installs them
 */
export function installServers() {
  const packages = missingPackages();
  if (packages.length === 0) {
    return;
  }
  const install = ['install', '--yes', '--no-install-recommends', ...packages];
  const isRoot = process.getuid?.() === 0;
  const hasApt = findProgram('apt-get') !== null;
  if (!isRoot || !hasApt) {
    throw new SetupError(
      `Tests start servers of their own, and ${packages.join(', ')} must be installed for that:\n` +
        `  ${isRoot ? '' : 'sudo '}apt-get ${install.join(' ')}` +
        (hasApt ? '' : '\nThat is for Debian; this machine has other names for them.'),
    );
  }
  process.stderr.write(
    `Installing ${packages.join(', ')} from the packages of this system, for tests that start\n` +
      'them on free ports. No service is started. This takes a minute at most.\n',
  );
  // The lists of packages may be missing, as in a fresh container, or too old.
  const isDone = withoutServices(() => apt(install) || (apt(['update']) && apt(install)));
  const left = missingPackages();
  if (!isDone || left.length > 0) {
    throw new SetupError(
      `${(left.length > 0 ? left : packages).join(', ')} could not be installed, see the lines above. By hand:\n` +
        `  apt-get update && apt-get ${install.join(' ')}`,
    );
  }
}

function missingPackages() {
  const missing = NEEDED.filter(({ program }) => findProgram(program) === null);
  return [...new Set(missing.map((need) => need.package))];
}

function findProgram(name) {
  const folders = [...(process.env.PATH ?? '').split(':'), ...SYSTEM_FOLDERS, ...postgresFolders()];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

function postgresFolders() {
  return existsSync(POSTGRES_VERSIONS)
    ? readdirSync(POSTGRES_VERSIONS).map((version) => join(POSTGRES_VERSIONS, version, 'bin'))
    : [];
}

function apt(args) {
  const { status } = spawnSync('apt-get', ['--quiet', ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status === 0;
}

/** A policy of the machine's own stays as it is. */
function withoutServices(work) {
  const isOurs = !existsSync(POLICY);
  if (isOurs) {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  }
  try {
    return work();
  } finally {
    if (isOurs) {
      rmSync(POLICY, { force: true });
    }
  }
}

/** The environment in which tests find the programs. */
export function withSystemFolders(env) {
  return { ...env, PATH: [env.PATH, ...SYSTEM_FOLDERS].filter(Boolean).join(':') };
}
