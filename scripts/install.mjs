// Shared by `npm start` and `npm test`: installs the packages and Bun on a machine that has only Node and
// npm. It must not import any package.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE_MAJOR = 20;

/** The folder of package.json, with no slash at the end. */
export const projectDir = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/** An error that the user can solve; printed without a stack trace. */
export class SetupError extends Error {}

/**
 * Checks the version of Node, and installs missing packages and Bun.
 * @param {{ dev: boolean }} needs `dev`: also install the development packages
 * @returns {string} the path of a Bun binary that works
 * @throws {SetupError} with the next step for the user
 */
export function prepare({ dev }) {
  checkNode(process.versions.node);
  const lacking = findLacking({ dev });
  if (lacking !== null) {
    installPackages(lacking, { dev });
  }
  return findBun() ?? repairBun();
}

function checkNode(version) {
  if (Number.parseInt(version, 10) < OLDEST_NODE_MAJOR) {
    throw new SetupError(
      `Fourbeat needs Node ${OLDEST_NODE_MAJOR} or newer, and this is Node ${version}.\n` +
        'Install a current release from https://nodejs.org and run the same command again.',
    );
  }
}

/**
 * Why packages must be installed, or null when they are complete. Compares with npm's lock in
 * node_modules, because file times are wrong after a checkout or a copy.
 */
function findLacking({ dev }) {
  const wanted = readPackages(join(projectDir, 'package-lock.json'));
  if (wanted === null) {
    throw new SetupError(
      'package-lock.json is missing or damaged. Restore it from the repository.',
    );
  }
  const installed = readPackages(join(projectDir, 'node_modules', '.package-lock.json'));
  if (installed === null) {
    return 'they are not installed yet';
  }
  for (const [path, entry] of Object.entries(wanted)) {
    const mayBeAbsent = path === '' || entry.optional || entry.devOptional || (entry.dev && !dev);
    const found = installed[path];
    const same = found?.version === entry.version && found?.integrity === entry.integrity;
    if (!mayBeAbsent && !(same && existsSync(join(projectDir, path)))) {
      return `${path.replace(/^.*node_modules\//, '')} is not the one in package-lock.json`;
    }
  }
  return null;
}

/** The `packages` of a lock file, or null when it cannot be read. */
function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages ?? null;
  } catch {
    return null;
  }
}

/**
 * Uses `npm ci` for a fresh tree. Updates an old tree with `npm install`, which restores it on failure:
 * `npm ci` deletes it first, and would leave a machine without network with nothing.
 */
function installPackages(reason, { dev }) {
  const isFresh = !existsSync(join(projectDir, 'node_modules', '.package-lock.json'));
  const verb = isFresh ? ['ci'] : ['install', '--no-save'];
  say(`Installing the packages, because ${reason}. This takes a minute at most.`);
  const { status, error } = runNpm([
    ...verb,
    ...(dev ? ['--include=dev'] : []),
    '--include=optional',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
  ]);
  if (status !== 0) {
    throw new SetupError(
      `npm could not install the packages${error ? ` (${error.message})` : ', see its lines above'}.\n` +
        'If this machine is offline: connect it once and run the same command again. Later\n' +
        'starts need no network. Behind a proxy or a registry of your own, set it for npm:\n' +
        '  npm config set proxy …    npm config set registry …',
    );
  }
  say('Packages installed.');
}

/** Runs the npm that started this script, or the one in PATH. */
function runNpm(args) {
  const options = { cwd: projectDir, stdio: ['ignore', 'inherit', 'inherit'] };
  const running = process.env.npm_execpath ?? '';
  return basename(running) === 'npm-cli.js'
    ? spawnSync(process.execPath, [running, ...args], options)
    : spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}

/** The first Bun binary that works, or null. */
function findBun() {
  return listBunPaths().find(isWorkingBun) ?? null;
}

/**
 * Possible paths of a Bun binary. Bun's install script moves it from the platform package (`@oven/bun-…`)
 * to the package `bun`. If scripts are disabled, it stays in the platform package, and `bun` contains a
 * placeholder text.
 */
function listBunPaths() {
  const modules = join(projectDir, 'node_modules');
  const oven = join(modules, '@oven');
  const platforms = existsSync(oven) ? readdirSync(oven).filter((name) => /^bun-/.test(name)) : [];
  return [
    join(modules, 'bun', 'bin', 'bun.exe'),
    ...platforms.flatMap((name) => [
      join(oven, name, 'bin', 'bun'),
      join(oven, name, 'bin', 'bun.exe'),
    ]),
  ];
}

function isWorkingBun(bun) {
  return existsSync(bun) && spawnSync(bun, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Runs Bun's install script to download a missing binary. */
function repairBun() {
  say('The package bun came without its binary. Running its install script.');
  spawnSync(process.execPath, [join(projectDir, 'node_modules', 'bun', 'install.js')], {
    cwd: projectDir,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const bun = findBun();
  if (bun === null) {
    throw new SetupError(
      `There is no Bun binary for this machine (${process.platform} ${process.arch}) in node_modules.\n` +
        'Usual causes: npm runs with --omit=optional or --no-optional, or this platform has no Bun.\n' +
        'Remove node_modules and run the same command again without that setting.',
    );
  }
  return bun;
}

/** Prints a line of progress to stderr; stdout belongs to the program. */
function say(line) {
  process.stderr.write(`${line}\n`);
}
