import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPlantedBugs } from './find-planted-bugs.ts';
import { type Removal, withChangedCopy } from './support/changed-copy.ts';

// Removes each guard of an invariant from a copy of the source and checks that its test fails:
// `npm run guards`, or `npm run guards -- WORDS` for guards whose test title contains WORDS. With
// `--simulation` it puts defects into the copy that the simulation must find.

/** A guard in the code, and the test that must fail without it. */
export interface Guard {
  readonly removals: readonly Removal[];
  /** The file of the test. */
  readonly file: string;
  readonly title: string;
  /** The file of the contract that has the title; by default the file of the test. */
  readonly contract?: string;
}

function guard(title: string, ...removals: readonly Removal[]): Guard {
  return { file: testFileOf(title), title, removals };
}

/** A guard whose test is outside of `test/invariants/`. */
function guardInFile(file: string, title: string, ...removals: readonly Removal[]): Guard {
  return { file, title, removals };
}

/** The file in `test/invariants/` of the test with this title. */
function testFileOf(title: string): string {
  if (/^\[I-[12]\]/.test(title)) return 'test/invariants/feed.test.ts';
  if (/^\[I-[34]\]/.test(title)) return 'test/invariants/quizzes.test.ts';
  return 'test/invariants/invariants.test.ts';
}

/** All guards. */
export const GUARDS: readonly Guard[] = [
  guard('[I-1] [F-12] a served interval is never sealed again, after a restart either', {
    file: 'server/realtime/feed/sealing-sql.ts',
    text: ' where interval = $1 and interval < $2',
    replacement: ' where $1 = $1 and $2 = $2',
  }),
  guard(
    '[I-1] [F-4] [F-13] an interval is served only once it is sealed',
    {
      file: 'server/realtime/feed/feed-log-memory.ts',
      text: 'if (interval > this.sealed) return this.readWhenSealed(streamId, interval);',
    },
    {
      file: 'server/gateway/feed-fast-path.ts',
      text: 'interval > log.watermark()',
      replacement: 'false',
    },
  ),
  guardInFile(
    'server/realtime/feed/sealing-sql.test.ts',
    '[I-1] [N-22] intervals that the database lacks are not read as empty ones',
    {
      file: 'server/realtime/feed/sealed-sql.ts',
      text: 'if (watermark < to) throw new DatabaseRolledBack(watermark, to);',
    },
  ),
  guardInFile(
    'server/realtime/coordination/shared-sealer.test.ts',
    '[I-1] [N-22] a node without intervals that others served leaves them the time to write them back',
    {
      file: 'server/realtime/coordination/shared-sealer.ts',
      text: 'if (this.isBehind(after, served)) return true;',
    },
  ),
  guardInFile(
    'server/realtime/coordination/shared-sealer.test.ts',
    '[I-1] [N-22] the time to write intervals back begins when the database answers again',
    {
      file: 'server/realtime/coordination/shared-sealer.ts',
      text: '  databaseFailed(): void {\n    this.behind = null;',
      replacement: '  databaseFailed(): void {',
    },
  ),
  guardInFile(
    'server/realtime/coordination/shared-sealer.test.ts',
    '[I-1] [N-22] a node does not serve what it sealed when another node has published the interval, maybe after the database lost it',
    {
      file: 'server/realtime/coordination/shared-sealer.ts',
      text: 'if (isPublished) await',
      replacement: 'await',
    },
  ),
  guardInFile(
    'server/realtime/coordination/shared-sealer.test.ts',
    '[I-1] [N-22] before its first sealing on a promoted standby a node names the timeline and collects again',
    {
      file: 'server/realtime/coordination/shared-sealer.ts',
      text: '(await this.sealTo(interval)) || (await this.sealTo(interval))',
      replacement: '(await this.sealTo(interval)) || true',
    },
  ),
  guardInFile(
    'server/realtime/feed/sealing-sql.test.ts',
    '[I-1] [N-22] an interval is not sealed on another timeline of the database than the coordinator knows',
    {
      file: 'server/realtime/feed/sealing-sql.ts',
      text: 'if (timeline !== undefined && timeline !== tx.timeline) {',
      replacement: "if (timeline === 'none') {",
    },
  ),
  guardInFile(
    'server/realtime/coordination/late-publication.test.ts',
    '[I-1] [N-22] a node that starts serves the newest interval of the database only when its publication cannot be late',
    {
      file: 'server/realtime/coordination/realtime-backend-redis.ts',
      text: 'isOld || watermark < 0 ? watermark : watermark - 1',
      replacement: 'watermark',
    },
  ),
  guardInFile(
    'server/realtime/coordination/late-publication.test.ts',
    '[I-1] [N-22] a publication that arrives while another node seals its interval on a promoted standby is refused',
    {
      file: 'server/storage/redis/library/sealing.lua',
      text: 'if timeline ~= args[4] then return { 0, published, timeline } end',
    },
  ),
  {
    file: 'server/realtime/coordination/seal-coordinator-redis.test.ts',
    contract: 'test/support/coordination/seal-coordinator-contract.ts',
    title:
      '[I-1] [N-22] a publication is refused unless it is of the timeline of the database on which nodes seal',
    removals: [
      {
        file: 'server/storage/redis/library/sealing.lua',
        text: 'if timeline ~= args[4] then return { 0, published, timeline } end',
      },
    ],
  },
  {
    file: 'server/realtime/coordination/seal-coordinator-redis.test.ts',
    contract: 'test/support/coordination/seal-coordinator-contract.ts',
    title:
      '[I-1] [N-12] a publication is refused after Redis was restarted, until a node names the timeline again',
    removals: [
      {
        file: 'server/storage/redis/library/sealing.lua',
        text: "redis.call('HDEL', key.state, 'timeline')",
      },
    ],
  },
  guardInFile(
    'server/realtime/coordination/feed-follower.test.ts',
    '[I-1] [N-4] a node that follows the feed finds intervals in the database without the log, and publishes them before it serves them',
    {
      file: 'server/realtime/coordination/feed-follower.ts',
      text: 'if (!reply) return null;',
      replacement: 'if (!reply) return entry;',
    },
  ),
  guardInFile(
    'server/realtime/coordination/feed-follower.test.ts',
    '[I-1] [N-22] a node that follows the feed serves what the database has after others have published it',
    {
      file: 'server/realtime/coordination/feed-follower.ts',
      text: 'this.readPublished(range, reply)',
      replacement: 'entry',
    },
  ),
  guardInFile(
    'server/realtime/coordination/feed-follower.test.ts',
    '[I-1] [N-22] a node that follows the feed serves nothing of a refused publication that others have not published',
    {
      file: 'server/realtime/coordination/feed-follower.ts',
      text: 'Math.min(to, published)',
      replacement: 'to',
    },
  ),
  guardInFile(
    'server/realtime/coordination/feed-follower.test.ts',
    '[I-1] [N-22] a node that follows the feed serves nothing of an earlier primary that other nodes have sealed again',
    {
      file: 'server/realtime/coordination/feed-follower.ts',
      text: 'timeline === named ? entry : null',
      replacement: 'timeline === named ? entry : entry',
    },
  ),
  guard('[I-1] [F-13] an interval is served as committed when the database’s reply was lost', {
    file: 'server/realtime/feed/sealer.ts',
    text: 'if (this.failing) await this.recover();',
  }),
  guard('[I-2] [F-14] each event is in one interval, across restarts and failed sealings', {
    file: 'server/realtime/feed/sealing-sql.ts',
    text: 'await deleteFromOutbox(tx, published);',
  }),
  guard('[I-3] [Q-17] an answer that arrived in time is refused once its quiz is counted', {
    file: 'server/domains/quizzes/quiz-rules.ts',
    text: "quiz.state === 'open' && ",
  }),
  guard('[I-3] [Q-13] [Q-14] concurrent answers of one seat count once', {
    file: 'server/domains/quizzes/answers-sql.ts',
    text: 'inTime.filter((_, index) => isAdded[index])',
    replacement: 'inTime',
  }),
  guard('[I-3] [Q-14] the first answer of a seat counts', {
    file: 'server/domains/quizzes/quiz-rules.ts',
    text: 'if (answer.recordedChoice !== null) {',
    replacement: 'if (answer.recordedChoice === answer.choice) {',
  }),
  guard(
    '[I-4] [Q-19] [R-8] a quiz publishes its results once, also when it closes after a restart',
    {
      file: 'server/domains/quizzes/due-work.ts',
      text: "state = 'open' and close_interval <= $3",
      replacement: 'close_interval <= $3',
    },
  ),
  guard('[I-4] [W-5] a winners round publishes its count once', {
    file: 'server/domains/quizzes/due-work.ts',
    text: "state = 'open' and due_interval <= $3",
    replacement: 'due_interval <= $3',
  }),
  guard(
    '[I-4] [P-20] a quiz publishes its results once when it is revealed twice concurrently and again',
    { file: 'server/domains/quizzes/quizzes-sql.ts', text: "if (quiz.state === 'closed') " },
    { file: 'server/domains/quizzes/quizzes-sql.ts', text: 'if (affected === 1) ' },
  ),
  guard(
    '[I-5] [V-5] a viewer with several tabs and repeated heartbeats counts once',
    {
      file: 'server/realtime/presence/presence-ring.ts',
      text: 'if ((Atomics.load(cells, at) & seats) !== seats) ',
    },
    {
      file: 'server/realtime/presence/presence-ring.ts',
      text: ' & ~Atomics.or(cells, at, seats)',
    },
  ),
  guard(
    '[I-5] [V-3] a viewer without heartbeats leaves the count after a second, in the feed too',
    {
      file: 'server/realtime/presence/presence-ring.ts',
      text: 'Atomics.sub(control, TOTAL, popcount(gone));',
    },
  ),
  guardInFile(
    'server/realtime/presence/presence-ring-threads.test.ts',
    '[I-5] a ring counts seats that other threads register while it advances, as a model does',
    {
      file: 'server/realtime/presence/presence-ring.ts',
      text: 'if (back !== 0) arrive(control, cells, at, back);',
    },
  ),
  guard('[I-6] [T-13] a viewer token is refused on every route of another stream', {
    file: 'server/auth/viewer-tokens/checked-viewers.ts',
    text: 'streamId !== null && viewer.streamId !== streamId',
    replacement: 'streamId === undefined',
  }),
  guard('[I-6] [T-13] a viewer token is refused on every route of another stream', {
    file: 'server/gateway/viewer-fast-path.ts',
    text: 'if (!this.isAdmitted(viewer, template.streamId, nowMs)) return false;',
  }),
  guardInFile(
    'test/gateway/answers.test.ts',
    '[T-13] [T-12] is refused with a wrong token, also after requests with a valid one',
    {
      file: 'server/gateway/viewer-fast-path.ts',
      text: 'this.isAdmitted(viewer, template.streamId, nowMs) &&',
    },
  ),
  guard(
    '[I-6] [T-6] a viewer token is refused from its exp on, although it was cached as valid',
    {
      file: 'server/auth/viewer-tokens/checked-viewers.ts',
      text: '&& viewer.expiresMs > this.nowMs() ',
    },
    {
      file: 'server/auth/viewer-tokens/checked-viewers.ts',
      text: "if (viewer.expiresMs <= nowMs) return 'expired';",
    },
  ),
  guard('[I-6] [Q-22] the feed does not contain the answer of a quiz before it is revealed', {
    file: 'server/domains/quizzes/quizzes-sql.ts',
    text: "reveal === 'auto' ? 'revealed' : 'closed'",
    replacement: "'revealed'",
  }),
  guard('[I-6] [W-3] replies to winner reports do not depend on the answer before it is revealed', {
    file: 'server/domains/quizzes/winners-sql.ts',
    text: "if (blocker) throw new DomainError('conflict', blocker);",
  }),
  guardInFile(
    'test/studio-api/presenter.test.ts',
    '[B-13] [I-6] has the answers so far, and no right answer before the reveal',
    {
      file: 'server/domains/presenter/presenter-state.ts',
      text: 'results: isRevealed ? ',
      replacement: 'results: quiz ? ',
    },
  ),
  guard(
    '[I-7] [G-20] [G-21] an invalid answer gets a 400 with a reason, and a valid one still counts',
    {
      file: 'server/http/json.ts',
      text: "if (countParsedKeys(value) !== scan.keys) throw new Problem(400, 'The body has a duplicate key.');",
    },
  ),
  guard(
    '[I-7] [R-15] [R-16] an answer gets a 503 within a second while the database blocks, and its retry counts',
    {
      file: 'server/storage/sql/database-sqlite.ts',
      text: "call.reject(new Unavailable('The database did not answer in time.'));",
    },
    {
      file: 'server/storage/sql/request-budget.ts',
      text: "reject(new Unavailable('The database did not answer in time.'))",
      replacement: '{}',
    },
  ),
  guardInFile(
    'test/database/set-back.test.ts',
    '[K-7] [I-1] set-back keeps what was served, ends the streams that have it, and lets others go on',
    {
      file: 'server/realtime/feed/sealing-sql.ts',
      text: 'where sealed_until > $5',
      replacement: 'where sealed_until > $5 and 1 = 0',
    },
  ),
  guardInFile(
    'test/races/sealing.test.ts',
    '[I-1] [F-12] of concurrent sealings of one interval, one succeeds, and a later one learns the watermark',
    {
      file: 'server/realtime/feed/sealing-sql.ts',
      text: ' where interval = $1 and interval < $2',
      replacement: ' where $1::bigint = $1 and $2::bigint = $2',
    },
  ),
  guardInFile(
    'test/races/sealing.test.ts',
    '[I-1] [I-2] [N-4] one of three sealers seals an interval, and every event is in one interval, in order',
    { file: 'server/realtime/feed/sealing-sql.ts', text: 'await deleteFromOutbox(tx, published);' },
  ),
  guardInFile(
    'test/races/stalled.test.ts',
    '[N-4] a sealer returns `busy` at once while another sealer holds the lock',
    {
      file: 'server/storage/sql/postgres.ts',
      text: "claim: 'for no key update skip locked'",
      replacement: "claim: 'for no key update'",
    },
  ),
  guardInFile(
    'test/races/stalled.test.ts',
    '[N-21] [W-4] claims that stall before their round is sealed delay no sealing, and are counted',
    { file: 'server/storage/sql/postgres.ts', text: "'for key share'", replacement: "'for share'" },
  ),
  guardInFile(
    'test/races/answers.test.ts',
    '[I-3] [N-18] a seat that answers on three nodes concurrently has one answer, the acknowledged one',
    {
      file: 'server/storage/sql/migrations/0001-tables.sql',
      text: 'primary key (quiz, seat)',
      replacement: 'check (true)',
    },
  ),
  guardInFile(
    'test/races/answers.test.ts',
    '[I-3] [Q-16] [Q-17] of answers that race a close, exactly the acknowledged ones are counted',
    { file: 'server/storage/sql/postgres.ts', text: "'for key share'", replacement: "''" },
  ),
  {
    ...guardInFile(
      'server/realtime/coordination/seal-coordinator-redis.test.ts',
      '[N-12] [C-6] collecting the reports takes nothing from later intervals for a slow sealer, also after a loss of data',
      {
        file: 'server/storage/redis/library/sealing.lua',
        text: 'if interval > watermark then',
        replacement: 'if true then',
      },
    ),
    contract: 'test/support/coordination/seal-coordinator-contract.ts',
  },
];

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TEST_TIMEOUT_MS = 60_000;

/** Checks the guards whose test title contains `words`. @returns whether every test failed without its guard */
function checkGuards(words: string): boolean {
  const guards = GUARDS.filter(({ title }) => title.includes(words));
  if (guards.length === 0)
    throw new Error(`no guarded test has these words in its title: ${words}`);
  console.log('| test | removed guard | failure |\n|---|---|---|');
  let allFailed = true;
  for (const { removals, file, title } of guards) {
    const intact = run(file, title, []);
    const unguarded = run(file, title, removals);
    const fails = intact.passed && !unguarded.passed;
    allFailed &&= fails;
    const locations = removals.map((removal) => `${removal.file}:${lineNumber(removal)}`);
    const failure = fails
      ? unguarded.failure
      : `DOES NOT FAIL (${intact.passed ? 'passes without the guard' : intact.failure})`;
    console.log(`| ${title} | ${locations.join(', ')} | ${failure.replaceAll('|', '\\|')} |`);
  }
  return allFailed;
}

function run(file: string, title: string, removals: readonly Removal[]) {
  return withChangedCopy(removals, (copy) => {
    const pattern = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const args = ['test', `--timeout=${TEST_TIMEOUT_MS}`, file, '-t', pattern];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
    // A run that crashed, or that skipped the test, does not count.
    const ran = stderr.includes(`${status === 0 ? '(pass)' : '(fail)'} `) && stderr.includes(title);
    return {
      passed: ran && status === 0,
      failure: ran ? failureIn(stderr) : 'the test did not run',
    };
  });
}

/** The failure message of a test run in one line. */
function failureIn(output: string): string {
  const from = output.search(/^error: |timed out/m);
  const lines = output.slice(Math.max(0, from)).split('\n');
  const end = lines.findIndex((line) => /^\s+at /.test(line) || line.startsWith('(fail)'));
  const words = lines.slice(0, end < 0 ? 8 : end + (end === 0 ? 1 : 0));
  return words.join(' ').replace(/\s+/g, ' ').trim().slice(0, 240);
}

function lineNumber({ file, text }: Removal): number {
  const code = readFileSync(join(ROOT, file), 'utf8');
  return code.slice(0, code.indexOf(text)).split('\n').length;
}

if (import.meta.main) {
  const [first = '', ...words] = process.argv.slice(2);
  const allFound =
    first === '--simulation'
      ? checkPlantedBugs(words.join(' '))
      : checkGuards([first, ...words].join(' '));
  process.exit(allFound ? 0 : 1);
}
