// `npm test`: everything that must hold, from nothing. It installs what is missing,
// checks format, lint and types, runs the tests, and ends with one line of numbers.
// Arguments after `npm test --` are paths for `bun test`; then no server is installed.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { installServers, withSystemFolders } from './debian.mjs';
import { prepare, projectDir, SetupError } from './install.mjs';

/** One test may start a whole service on a busy machine, and no more than that. */
const TEST_TIMEOUT_MS = 20_000;

/** How many characters of a failed test's error the end of the output repeats. */
const FAILURE_LENGTH = 2_000;

/** They break whole services under load, or need both cores: they have the machine to themselves. */
const ALONE = [
  'server/realtime/presence/presence-ring-threads.test.ts',
  'test/cluster/faults-oracle.test.ts',
  'test/cluster/faults.test.ts',
  'test/kill/kill.test.ts',
  'test/media/players.test.ts',
  'test/player/overlay-latency.test.ts',
  'test/player/show.test.ts',
  'test/database/postgres-meeting.test.ts',
  'test/studio/trouble.test.ts',
];

/** Whole services with limits of time that need a third of a core each, so that three leave one idle. */
const SERVICES = [
  'server/realtime/coordination/shared-clock.test.ts',
  'test/cluster/moderation.test.ts',
  'test/cluster/roles.test.ts',
  'test/cluster/cluster.test.ts',
  'test/media/media-faults.test.ts',
  'test/media/senders.test.ts',
  'test/database/postgres-away.test.ts',
  'test/studio-api/rehearsal-crowd.test.ts',
  'test/gateway/workers.test.ts',
];

/**
 * Pages in browsers, and viewers by the thousand: they use both cores, and what waits beside them for
 * a database would take it for gone.
 */
const BUSY = [
  'sdk/virtual-time/',
  'test/player/',
  'test/sdk/',
  'test/studio/',
  'test/examples.test.ts',
];

/**
 * About how many seconds the slowest files take. They begin first, or one would run on by itself
 * when all others are done; all that are not named count as one second.
 */
const SECONDS = {
  'test/sdk/virtual-time/crowd.test.ts': 50,
  'test/sdk/virtual-time/schedules.test.ts': 70,
  'server/realtime/feed/feed-log.test.ts': 35,
  'server/realtime/feed/idle-streams.test.ts': 14,
  'server/realtime/coordination/many-nodes.test.ts': 65,
  'server/realtime/feed/sealing.model.test.ts': 15,
  'server/media/packager/encoder-ffmpeg.test.ts': 11,
  'server/media/rtmp/rtmp-listener.test.ts': 15,
  'server/media/srt/listen-srt.test.ts': 40,
  'server/domains/quizzes/quizzes.model.test.ts': 12,
  'server/domains/quizzes/winners.model.test.ts': 15,
  'server/storage/redis/failover.test.ts': 18,
  'server/storage/redis/open-redis.test.ts': 10,
  'server/realtime/coordination/shared-clock.test.ts': 50,
  'server/domains/streams/streams-sql.test.ts': 11,
  'test/cli/cli.test.ts': 45,
  'test/cluster/moderation.test.ts': 14,
  'test/cluster/cluster.test.ts': 34,
  'test/demo.test.ts': 22,
  'test/deploy/deploy.test.ts': 25,
  'test/examples.test.ts': 20,
  'test/media/media-faults.test.ts': 45,
  'test/media/play.test.ts': 20,
  'test/media/recording.test.ts': 22,
  'test/media/senders.test.ts': 38,
  'test/media/watch-page.test.ts': 70,
  'test/openapi/openapi.test.ts': 12,
  'test/player/crowd.test.ts': 70,
  'test/player/moderation.test.ts': 25,
  'test/player/quiz.test.ts': 35,
  'test/player/stage.test.ts': 26,
  'test/database/postgres-away.test.ts': 12,
  'test/database/postgres-meeting.test.ts': 11,
  'test/studio-api/rehearsal-crowd.test.ts': 32,
  'test/studio-api/rehearsal.test.ts': 15,
  'test/studio/latency.test.ts': 15,
  'test/studio/rehearsal.test.ts': 40,
  'test/studio/report.test.ts': 30,
  'test/studio/many.test.ts': 30,
  'test/studio/moderation.test.ts': 30,
  'test/studio/presenter.test.ts': 40,
  'test/studio/studio.test.ts': 20,
  'test/studio/telling.test.ts': 30,
  'test/studio/whole-show.test.ts': 60,
  'test/database/postgres.test.ts': 12,
  'test/database/sqlite.test.ts': 12,
  'test/cluster/start-without-backend.test.ts': 25,
  'test/gateway/workers.test.ts': 12,
};

const biome = join(projectDir, 'node_modules', '@biomejs', 'biome', 'bin', 'biome');
const tsc = join(projectDir, 'node_modules', 'typescript', 'bin', 'tsc');

const CHECKS = [
  { name: 'format', args: [biome, 'check', '--linter-enabled=false', '.'] },
  { name: 'lint', args: [biome, 'lint', '--error-on-warnings', '.'] },
  { name: 'types', args: [tsc, '-p', '.', '--noEmit'] },
  { name: 'types of pages', args: [tsc, '-p', 'tsconfig.pages.json', '--noEmit'] },
];

const failures = [];
/** Tests that failed, each as lines, for the end of the output: a log that is cut keeps its end. */
const failedTests = [];
const totals = { passed: 0, failed: 0, skipped: 0 };
const reportDir = mkdtempSync(join(tmpdir(), 'fourbeat-test-'));
const timingsPath = join(reportDir, 'timings.json');
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
    writeTimings();
    const alone = ALONE.map(ignored);
    // Most of them mostly wait, so there is work for two cores in three.
    const others = [...alone, ...SERVICES.map(ignored), ...BUSY.map(ignored)];
    await runStep('tests', () => runTests(bun, [...atOnce(3), ...others]));
    await runStep('tests of pages and viewers', () =>
      runTests(bun, [...atOnce(2), ...alone, ...BUSY.map((path) => `./${path}`)]),
    );
    await runStep('tests of whole services', () => runTests(bun, [...atOnce(3), ...SERVICES]));
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

/** The arguments that run so many files at once, the slowest first. */
function atOnce(files) {
  return [`--parallel=${files}`, `--timings=${timingsPath}`];
}

/** Has Bun know of all test files how long they take: those that it knows nothing of are its first. */
function writeTimings() {
  const folders = readdirSync(projectDir, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name),
  );
  const files = folders.flatMap(({ name }) =>
    readdirSync(join(projectDir, name), { recursive: true })
      .filter((path) => /\.test\.tsx?$/.test(path))
      .map((path) => `${name}/${path.replaceAll('\\', '/')}`),
  );
  const times = files.map((file) => [file, 1_000 * (SECONDS[file] ?? 1)]);
  writeFileSync(timingsPath, JSON.stringify({ version: 1, files: Object.fromEntries(times) }));
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
    if (failedTests.length > 0) {
      console.log(`\n${failedTests.join('\n\n')}`);
    }
    console.log(`\nFailed: ${failures.join(', ')}`);
    process.exitCode = 1;
  }
  const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : '';
  console.log(`\n${totals.passed} passed, ${totals.failed} failed${skipped}`);
}
