// `npm test` installs what is missing, checks format, lint and types, and runs the tests. The last
// line has the numbers. Arguments after `npm test --` are paths for `bun test`; no server is
// installed then. `npm run test:full` (`--full`) runs the long rounds that `npm test` leaves out.
// A file that fails beside others runs once more, alone, since many tests have limits of some 100 ms
// that a busy machine misses. The second run decides; the end of the output has the errors of the first.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { installServers, withSystemFolders } from './debian.mjs';
import { prepare, projectDir, SetupError } from './install.mjs';
import { SECONDS, testFiles, testPlan } from './test-plan.mjs';

/** Enough to start a whole service on a busy machine. */
const TEST_TIMEOUT_MS = 20_000;

/** Characters of the error of a failed test that the end of the output repeats. */
const FAILURE_LENGTH = 2_000;

/** A busy machine is no explanation if more files than this fail at once; then none runs again. */
const RERUN_FILES_MAX = 4;

/** How `bun test` ends when tests fail without a crash. */
const TESTS_FAILED = 'exit code 1';

/** The last characters of the output, which contain Bun's totals. */
const OUTPUT_LENGTH = 2_000;
/** How long to wait for the rest of the output after a program has ended. */
const PIPE_MS = 1_000;

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
/** Failed tests, with their errors, that passed when their file ran again. */
const passedAlone = [];
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
    await runStep('tests', async () => addResult(await runBunTest(bun, paths, isFull)));
  } else {
    writeTimings();
    for (const { name, atOnce, files } of testPlan(isFull)) {
      const paths = files.map((file) => `./${file}`);
      const parallel = [`--parallel=${atOnce}`, `--timings=${timingsPath}`];
      // In one process, what a failed test leaves running would disturb the next files.
      const runs = atOnce > 1 ? [[...parallel, ...paths]] : paths.map((path) => [path]);
      await runStep(name, () => runAll(bun, runs, isFull));
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
  const { end } = await run(process.execPath, args);
  if (end === 'exit code 0') {
    return null;
  }
  totals.failed += 1;
  return end;
}

/** Runs tests, one list of arguments of `bun test` after the other. @returns the problems, or null */
async function runAll(bun, runs, isFull) {
  const problems = [];
  for (const args of runs) {
    const problem = await runTests(bun, args, isFull);
    if (problem !== null) problems.push(problem);
  }
  return problems.length > 0 ? problems.join(', ') : null;
}

/** Runs tests, then runs files that failed again, each alone. @returns the problem, or null */
async function runTests(bun, paths, isFull) {
  const result = await runBunTest(bun, paths, isFull);
  const files = [...new Set(result.failures.map(({ file }) => file))];
  // A file that throws while it loads is missing in the report, and so are tests after a crash.
  const isReportComplete = result.failures.length > 0 && result.failures.length === result.failed;
  if (!isReportComplete || !result.problem.endsWith(TESTS_FAILED) || files.length > RERUN_FILES_MAX)
    return addResult(result);
  addResult({ ...result, failed: 0, failures: [], problem: null });
  const problems = [];
  for (const file of files) {
    console.log(`\n${file} failed and runs again, alone …`);
    const second = await runBunTest(bun, [`./${file}`], isFull);
    const problem = addResult({ ...second, passed: 0, skipped: 0 });
    const first = result.failures.filter((failure) => failure.file === file);
    if (problem !== null) problems.push(`${file}: ${problem}`);
    const texts = first.map(({ text }) => text);
    if (problem === null) passedAlone.push(...texts);
    else if (second.failures.length === 0) failedTests.push(...texts);
    totals.passed += problem === null ? first.length : 0;
  }
  return problems.length > 0 ? problems.join(', ') : null;
}

/** Adds the numbers of a run to the totals. @returns its problem */
function addResult({ passed, skipped, failed, failures: tests, problem }) {
  totals.passed += passed;
  totals.skipped += skipped;
  totals.failed += failed;
  failedTests.push(...tests.map(({ text }) => text));
  if (problem !== null && tests.length === 0) failedTests.push(problem);
  return problem;
}

/**
 * The numbers come from Bun's report. A run that crashed, wrote no report or ran no
 * test has failed, whatever its report says.
 */
async function runBunTest(bun, paths, isFull) {
  const reportPath = join(runDir, 'junit.xml');
  rmSync(reportPath, { force: true });
  const { end, lastOutput } = await run(
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
  if (report === null) {
    const problem = `bun test ended with ${end} and wrote no report`;
    return { passed: 0, skipped: 0, failed: 1, failures: [], problem };
  }
  const printed = /^ (\d+) fail$/m.exec(lastOutput)?.[1] ?? '1';
  const failed =
    end === 'exit code 0' ? report.failed : Math.max(report.failed, Number(printed), 1);
  if (failed > 0) return { ...report, failed, problem: `${failed} failed, ${end}` };
  return report.passed > 0
    ? { ...report, problem: null }
    : { ...report, failed: 1, problem: 'no test ran' };
}

/** The sums and failures of a JUnit report, or null when there is none that is whole. */
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
  const passed = count('tests') - failed - skipped;
  return { passed, failed, skipped, failures: readFailures(text) };
}

/** The file of each failed test, and its file, title and error as text, as Bun's report has them. */
function readFailures(text) {
  return [...text.matchAll(/<testcase\b([^>]*[^/])>\s*<(?:failure|error)\b([^>]*)>([^<]*)/g)].map(
    ([, test, failure, stack]) => {
      const [file, name] = [attribute(test, 'file'), attribute(test, 'name')];
      const error = unescaped(stack).trim() || attribute(failure, 'message');
      const indented = error.slice(0, FAILURE_LENGTH).replaceAll(/^/gm, '  ');
      return { file, text: `${file}: ${name}\n${indented}` };
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
 * Runs a program in the folder of the project. Resolves with how it ended, and the last of what it
 * wrote to stderr, without colors. Bun keeps the memory that it frees: on a virtual machine, 30 starts
 * of a service took 5.2 s of a core and not 9.0.
 */
function run(program, args, variables = {}) {
  const child = spawn(program, args, {
    cwd: projectDir,
    stdio: ['ignore', 'inherit', 'pipe'],
    env: {
      ...withSystemFolders(withoutOwnSettings(process.env)),
      ...{ TMPDIR: runDir, TEST_CACHE: runDir, MIMALLOC_PURGE_DELAY: '-1' },
      ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}),
      ...variables,
    },
  });
  let lastOutput = '';
  child.stderr.on('data', (bytes) => {
    process.stderr.write(bytes);
    lastOutput = (lastOutput + bytes).slice(-OUTPUT_LENGTH);
  });
  return new Promise((resolve) => {
    let end = '';
    const finish = () => resolve({ end, lastOutput: stripVTControlCharacters(lastOutput) });
    child.on('error', (error) => resolve({ end: error.message, lastOutput }));
    child.on('exit', (code, signal) => {
      end = signal === null ? `exit code ${code}` : `signal ${signal}`;
      // A program that a test left behind may keep the pipe open.
      setTimeout(finish, PIPE_MS);
    });
    child.on('close', finish);
  });
}

/** Settings of a service of the reader's own must not reach the tests. */
function withoutOwnSettings(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('FOURBEAT_')));
}

/** The last line is read by machines: `N passed, N failed`, and skipped tests if any. */
function printSummary() {
  if (passedAlone.length > 0) {
    console.log(
      `\nFailed at first, passed when their file ran alone:\n\n${passedAlone.join('\n\n')}`,
    );
  }
  if (failures.length > 0) {
    if (failedTests.length > 0) {
      console.log(`\nFailed tests:\n\n${failedTests.join('\n\n')}`);
    }
    console.log(`\nFailed: ${failures.join(', ')}`);
    process.exitCode = 1;
  }
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
  console.log(`\n${totals.passed} passed, ${totals.failed} failed${skipped}`);
}
