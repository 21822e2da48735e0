// `npm test`: everything that must hold, from nothing. It installs what is missing,
// checks format, lint and types, runs the tests, and ends with one line of numbers.
// Arguments after `npm test --` are paths for `bun test`; then no server is installed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { installServers, withSystemFolders } from './debian.mjs';
import { prepare, projectDir, SetupError } from './install.mjs';

/** One test may start a whole service on a busy machine, and no more than that. */
const TEST_TIMEOUT_MS = 20_000;

/**
 * Whole services under load, with limits of time. They have the machine to themselves; all others
 * mostly wait, and run three at a time.
 */
const ALONE = [
  'test/cluster-roles.test.ts',
  'test/cluster.test.ts',
  'test/faults-oracle.test.ts',
  'test/faults.test.ts',
  'test/kill.test.ts',
  'test/media/media-faults.test.ts',
  'test/media/players.test.ts',
  'test/media/senders.test.ts',
  'test/player/overlay-latency.test.ts',
  'test/player/show.test.ts',
  'test/record-postgres-away.test.ts',
  'test/record-postgres-meeting.test.ts',
];

/**
 * Pages in browsers, and viewers by the thousand: they use both cores, and what waits beside them for
 * a database would take it for gone.
 */
const BUSY = ['sdk/virtual-time/', 'test/player/', 'test/sdk/', 'test/examples.test.ts'];

const biome = join(projectDir, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
const tsc = join(projectDir, 'node_modules', 'typescript', 'bin', 'tsc');

const CHECKS = [
  { name: 'format', args: [biome, 'check', '--linter-enabled=false', '.'] },
  { name: 'lint', args: [biome, 'lint', '--error-on-warnings', '.'] },
  { name: 'types', args: [tsc, '-p', '.', '--noEmit'] },
  { name: 'types of pages', args: [tsc, '-p', 'tsconfig.pages.json', '--noEmit'] },
];

const failures = [];
const totals = { passed: 0, failed: 0, skipped: 0 };
const reportDir = mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
process.on('exit', () => rmSync(reportDir, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

try {
  const bun = prepare({ dev: true });
  const paths = process.argv.slice(2);
  if (paths.length === 0) {
    installServers();
  }
  for (const check of CHECKS) {
    await runStep(check.name, () => runCheck(check.args));
  }
  if (paths.length > 0) {
    await runStep('tests', () => runTests(bun, paths));
  } else {
    const alone = ALONE.map(ignored);
    await runStep('tests', () => runTests(bun, ['--parallel=3', ...alone, ...BUSY.map(ignored)]));
    await runStep('tests of pages and viewers', () =>
      runTests(bun, ['--parallel=2', ...alone, ...BUSY.map((path) => `./${path}`)]),
    );
    await runStep('tests of faults, one at a time', () => runTests(bun, ALONE));
  }
} catch (error) {
  if (!(error instanceof SetupError)) {
    throw error;
  }
  console.log(`\n${error.message}`);
  failures.push('setup');
  totals.failed += 1;
}
printSummary();

/** The argument that leaves a file out, or a folder. */
function ignored(path) {
  return `--path-ignore-patterns=${path.endsWith('/') ? `${path}**` : path}`;
}

/** Runs one step between two lines of progress. It answers with its problem, or null. */
async function runStep(name, step) {
  console.log(`\n${name} …`);
  const startMs = performance.now();
  const problem = await step();
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  if (problem === null) {
    console.log(`${name} ok (${seconds} s)`);
    return;
  }
  console.log(`${name} FAILED (${seconds} s): ${problem}`);
  failures.push(name);
}

/** A check is one thing that holds or not, so it can add one failure. */
async function runCheck(args) {
  const end = await run(process.execPath, args);
  if (end === 'exit code 0') {
    return null;
  }
  totals.failed += 1;
  return end;
}

/**
 * The numbers come from Bun's report. A run that crashed, wrote no report or ran no
 * test has failed, whatever its report says.
 */
async function runTests(bun, paths) {
  const reportPath = join(reportDir, 'junit.xml');
  const end = await run(bun, [
    '--no-orphans',
    '--no-env-file',
    'test',
    `--timeout=${TEST_TIMEOUT_MS}`,
    '--reporter=junit',
    `--reporter-outfile=${reportPath}`,
    ...paths,
  ]);
  const report = readReport(reportPath);
  totals.passed += report?.passed ?? 0;
  totals.skipped += report?.skipped ?? 0;
  totals.failed += report?.failed ?? 0;
  if (report !== null && report.failed > 0) {
    return `${report.failed} failed`;
  }
  if (report !== null && end === 'exit code 0' && report.passed > 0) {
    return null;
  }
  totals.failed += 1;
  if (end !== 'exit code 0') {
    return `bun test ended with ${end}${report === null ? ' and wrote no report' : ''}`;
  }
  return report === null ? 'bun test wrote no report' : 'no test ran';
}

/** The sums of a JUnit report, or null when there is none that is whole. */
function readReport(path) {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return null;
  }
  const root = /<testsuites\b[^>]*>/.exec(text)?.[0];
  if (root === undefined || !text.trimEnd().endsWith('</testsuites>')) {
    return null;
  }
  const count = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const failed = count('failures') + count('errors');
  const skipped = count('skipped');
  return { passed: count('tests') - failed - skipped, failed, skipped };
}

/** Runs a program in the project's folder and says how it ended. */
function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: projectDir,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: withSystemFolders(withoutOwnSettings(process.env)),
    });
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => {
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
}

/** Settings of a service of the reader's own must not reach the tests. */
function withoutOwnSettings(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('FOURBEAT_')));
}

/** The last line is read by machines: `N passed, N failed`, and skipped tests if any. */
function printSummary() {
  if (failures.length > 0) {
    console.log(`\nFailed: ${failures.join(', ')}`);
    process.exitCode = 1;
  }
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
  console.log(`\n${totals.passed} passed, ${totals.failed} failed${skipped}`);
}
