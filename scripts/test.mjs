// `npm test` installs what is missing, checks format, lint and types, and runs the tests. The last
// line has the numbers. Arguments after `npm test --` are paths for `bun test`; no server is
// installed then. `npm run test:full` (`--full`) runs the long rounds that `npm test` leaves out.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { installServers, withSystemFolders } from './debian.mjs';
import { prepare, projectDir, SetupError } from './install.mjs';
import { SECONDS, testFiles, testPlan } from './test-plan.mjs';

/** Enough to start a whole service on a busy machine. */
const TEST_TIMEOUT_MS = 20_000;

/** Characters of the error of a failed test that the end of the output repeats. */
const FAILURE_LENGTH = 2_000;

/** Free memory that the files of all tests fit into. */
const MEMORY_BYTES_MIN = 4 * 1024 ** 3;

const biome = join(projectDir, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
const tsc = join(projectDir, 'node_modules', 'typescript', 'bin', 'tsc');

const CHECKS = [
  { name: 'format', args: [biome, 'check', '--linter-enabled=false', '.'] },
  { name: 'lint', args: [biome, 'lint', '--error-on-warnings', '.'] },
  { name: 'types', args: [tsc, '-p', '.', '--noEmit'] },
  { name: 'types of pages', args: [tsc, '-p', 'tsconfig.pages.json', '--noEmit'] },
];

const failures = [];
/** Failed tests with their errors, repeated at the end of the output, because long logs are cut. */
const failedTests = [];
const totals = { passed: 0, failed: 0, skipped: 0 };
const runDir = mkdtempSync(join(memoryOrDisk(), 'fourbeat-test-'));
// PostgreSQL runs as another user, and keeps its files below this folder.
chmodSync(runDir, 0o711);
const timingsPath = join(runDir, 'timings.json');
process.on('exit', () => rmSync(runDir, { recursive: true, force: true, maxRetries: 3 }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

try {
  const bun = prepare({ dev: true });
  const isFull = process.argv.includes('--full');
  const paths = process.argv.slice(2).filter((argument) => argument !== '--full');
  if (paths.length === 0) {
    installServers();
  }
  if (!isFull) {
    await Promise.all(CHECKS.map(({ name, args }) => runStep(name, () => runCheck(args))));
  }
  if (paths.length > 0) {
    await runStep('tests', () => runTests(bun, paths, isFull));
  } else {
    writeTimings();
    for (const { name, atOnce, files } of testPlan(isFull)) {
      const parallel = atOnce > 1 ? [`--parallel=${atOnce}`, `--timings=${timingsPath}`] : [];
      await runStep(name, () =>
        runTests(bun, [...parallel, ...files.map((file) => `./${file}`)], isFull),
      );
    }
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

/**
 * The folder for the files of all tests: in memory where there is room, since a commit waits 1 to 3 ms
 * for a disk, and the model tests make thousands.
 */
function memoryOrDisk() {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > MEMORY_BYTES_MIN ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Tells Bun how long files take, so that the slowest start first; it starts unknown files before all. */
function writeTimings() {
  const times = testFiles().map((file) => [file, 1_000 * (SECONDS[file] ?? 1)]);
  writeFileSync(timingsPath, JSON.stringify({ version: 1, files: Object.fromEntries(times) }));
}

/** Runs one step between two lines of progress. The step resolves with its problem, or null. */
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

/** A failed check counts as one failure. */
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
async function runTests(bun, paths, isFull) {
  const reportPath = join(runDir, 'junit.xml');
  const end = await run(
    bun,
    [
      '--no-orphans',
      '--no-env-file',
      'test',
      `--timeout=${TEST_TIMEOUT_MS}`,
      '--reporter=junit',
      `--reporter-outfile=${reportPath}`,
      ...paths,
    ],
    isFull ? { TEST_FULL: '1' } : {},
  );
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
  failedTests.push(...readFailures(text));
  return { passed: count('tests') - failed - skipped, failed, skipped };
}

/** The file, the title and the error of each failed test, as Bun's report has them. */
function readFailures(text) {
  return [...text.matchAll(/<testcase\b([^>]*[^/])>\s*<(?:failure|error)\b([^>]*)>([^<]*)/g)].map(
    ([, test, failure, stack]) => {
      const [file, name] = [attribute(test, 'file'), attribute(test, 'name')];
      const error = unescaped(stack).trim() || attribute(failure, 'message');
      return `${file}: ${name}\n${error.slice(0, FAILURE_LENGTH).replaceAll(/^/gm, '  ')}`;
    },
  );
}

function attribute(text, name) {
  return unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1] ?? '');
}

function unescaped(text) {
  const characters = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&', '#10': '\n' };
  return text.replaceAll(/&(lt|gt|quot|apos|amp|#10);/g, (_, name) => characters[name]);
}

/**
 * Runs a program in the folder of the project. Resolves with how it ended. Bun keeps the memory that
 * it frees: on a virtual machine, 30 starts of a service took 5.2 s of a core and not 9.0.
 */
function run(program, args, variables = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: projectDir,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: {
        ...withSystemFolders(withoutOwnSettings(process.env)),
        ...{ TMPDIR: runDir, TEST_CACHE: runDir, MIMALLOC_PURGE_DELAY: '-1' },
        ...variables,
      },
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
    if (failedTests.length > 0) {
      console.log(`\n${failedTests.join('\n\n')}`);
    }
    console.log(`\nFailed: ${failures.join(', ')}`);
    process.exitCode = 1;
  }
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
  console.log(`\n${totals.passed} passed, ${totals.failed} failed${skipped}`);
}
