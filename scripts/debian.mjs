// Programs that tests start, such as Redis, PostgreSQL and nginx. They are not npm packages, so they are
// installed from Debian or Ubuntu where that is possible.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './install.mjs';

/** A program that tests run, and its package. */
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

/** Folders that are not in the PATH of users other than root. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];
const POSTGRES_VERSIONS = '/usr/lib/postgresql';

/** Debian's package scripts run this file before they start a service; exit status 101 forbids it. */
const POLICY = '/usr/sbin/policy-rc.d';

/**
 * Installs the missing programs that tests start, if this process is root and the system has apt-get.
 * No program is started as a system service.
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
  // The package lists may be missing, as in a fresh container, or outdated.
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

/** Runs `work` while a policy forbids to start services; keeps an existing policy of the machine. */
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

/** The environment with the programs in PATH. */
export function withSystemFolders(env) {
  return { ...env, PATH: [env.PATH, ...SYSTEM_FOLDERS].filter(Boolean).join(':') };
}
