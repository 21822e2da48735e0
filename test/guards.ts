import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Run by itself, this takes each guard out of a copy of the source and sees its test go red:
// `npm run guards`, or `npm run guards -- WORDS` for those whose titles have these words. A test that
// stays green is a test that proves nothing.

/** A text that is taken out of a file, or replaced. */
interface Removal {
  readonly file: string;
  readonly line: string;
  readonly instead?: string;
}

/** A guard of an invariant, and the test that must fail without it. */
export interface Guard {
  readonly removals: readonly Removal[];
  /** Where the test is, and its title. */
  readonly file: string;
  readonly title: string;
}

function guard(title: string, ...removals: readonly Removal[]): Guard {
  return { file: fileOf(title), title, removals };
}

/** A guard whose test is in another file: that of many nodes, or of the part that it guards. */
function guardIn(file: string, title: string, ...removals: readonly Removal[]): Guard {
  return { file, title, removals };
}

/** The tests of the invariants are in three files, by the number in their title. */
function fileOf(title: string): string {
  if (/^\[I-[12]\]/.test(title)) return 'test/invariants/feed.test.ts';
  if (/^\[I-[34]\]/.test(title)) return 'test/invariants/quizzes.test.ts';
  return 'test/invariants/invariants.test.ts';
}

/** Every guard that a comment in the tests names. */
export const GUARDS: readonly Guard[] = [
  guard('[I-1] [F-12] an interval that was served is never sealed again', {
    file: 'server/realtime/feed/sealing-sql.ts',
    line: ' where interval = $1 and interval < $2',
    instead: ' where $1 = $1 and $2 = $2',
  }),
  guard(
    '[I-1] [F-4] [F-13] nobody is served an interval before it is sealed',
    {
      file: 'server/realtime/feed/feed-log-memory.ts',
      line: 'if (interval > this.sealed) return this.sealedLater(streamId, interval);',
    },
    {
      file: 'server/gateway/viewer-fast-path.ts',
      line: 'interval > log.sealedTo()',
      instead: 'false',
    },
  ),
  guard('[I-1] [F-13] a sealing whose answer was lost is served as it was committed', {
    file: 'server/realtime/feed/sealer.ts',
    line: 'if (this.failing) await this.recover();',
  }),
  guard('[I-2] [F-14] events are in one interval each, restarts and failed sealings included', {
    file: 'server/realtime/feed/sealing-sql.ts',
    line: 'await takeFromOutbox(tx, taken);',
  }),
  guard('[I-3] [Q-17] an answer in time that meets a counted quiz is refused', {
    file: 'server/domains/quizzes/quiz-rules.ts',
    line: "quiz.state === 'open' && ",
  }),
  guard('[I-3] [Q-13] [Q-14] answers of one seat that come together count once', {
    file: 'server/domains/quizzes/answers-sql.ts',
    line: 'inTime.filter((_, index) => areNew[index])',
    instead: 'inTime',
  }),
  guard('[I-3] [Q-14] the first answer of a seat stands', {
    file: 'server/domains/quizzes/quiz-rules.ts',
    line: 'if (answer.recordedChoice !== null) {',
    instead: 'if (answer.recordedChoice === answer.choice) {',
  }),
  guard('[I-4] [Q-19] [R-8] a quiz has its results once, also when a restart carries it out', {
    file: 'server/realtime/feed/sealing-sql.ts',
    line: "state = 'open' and close_interval <= $3",
    instead: 'close_interval <= $3',
  }),
  guard('[I-4] [W-5] a round has its count once', {
    file: 'server/realtime/feed/sealing-sql.ts',
    line: "state = 'open' and due_interval <= $3",
    instead: 'due_interval <= $3',
  }),
  guard(
    '[I-4] [P-20] a quiz that is revealed again, and twice at once, has its results once',
    { file: 'server/domains/quizzes/quizzes-sql.ts', line: "if (quiz.state === 'closed') " },
    { file: 'server/domains/quizzes/quizzes-sql.ts', line: 'if (affected === 1) ' },
  ),
  guard(
    '[I-5] [V-5] tabs and repeated posts of a viewer count once',
    {
      file: 'server/realtime/presence/presence-cells.ts',
      line: 'if ((Atomics.load(cells, at) & seats) !== seats) ',
    },
    {
      file: 'server/realtime/presence/presence-cells.ts',
      line: ' & ~Atomics.or(cells, at, seats)',
    },
  ),
  guard('[I-5] [V-3] who stays away is gone after a second, in the feed too', {
    file: 'server/realtime/presence/presence-cells.ts',
    line: 'Atomics.sub(control, TOTAL, popcount(gone));',
  }),
  guardIn(
    'server/realtime/presence/presence-ring-threads.test.ts',
    '[I-5] seats that other threads register in while time goes on are counted as a model does',
    {
      file: 'server/realtime/presence/presence-cells.ts',
      line: 'if (back !== 0) arrive(control, cells, at, back);',
    },
  ),
  guard('[I-6] [T-13] a viewer token is refused on every route of another stream', {
    file: 'server/auth/viewer-tokens/admission.ts',
    line: 'streamId !== null && viewer.streamId !== streamId',
    instead: 'streamId === undefined',
  }),
  guard('[I-6] [T-13] a viewer token is refused on every route of another stream', {
    file: 'server/gateway/viewer-fast-path.ts',
    line: 'if (viewer.streamId !== shape.streamId) return false;',
  }),
  guardIn(
    'test/gateway/answers.test.ts',
    '[T-13] [T-12] is let in no more than its token, also behind requests that were good',
    {
      file: 'server/gateway/viewer-fast-path.ts',
      line: 'viewer?.streamId === shape.streamId',
      instead: 'viewer',
    },
  ),
  guard('[I-6] [T-6] a token that was good a moment ago is refused from its exp on', {
    file: 'server/auth/viewer-tokens/token-cache.ts',
    line: '&& viewer.expiresMs > this.nowMs() ',
  }),
  guard('[I-6] [Q-22] nothing tells the answer of a quiz before it is revealed', {
    file: 'server/domains/quizzes/quizzes-sql.ts',
    line: "if (quiz.reveal === 'auto') ",
  }),
  guard('[I-6] [W-3] no yes or no to a winner tells the answer before it is revealed', {
    file: 'server/domains/quizzes/winners-sql.ts',
    line: "if (blocker) throw new DomainError('conflict', blocker);",
  }),
  guardIn(
    'test/studio-api/presenter.test.ts',
    '[B-13] [I-6] has what was answered so far, and no right answer before the reveal',
    {
      file: 'server/domains/presenter/presenter-state.ts',
      line: 'results: isRevealed ? ',
      instead: 'results: quiz ? ',
    },
  ),
  guard('[I-7] [G-20] [G-21] bad input is told what is wrong, and takes nobody’s answer', {
    file: 'server/http/json.ts',
    line: "if (countParsedKeys(value) !== keyCount) throw new Problem(400, 'The body has a duplicate key.');",
  }),
  guard(
    '[I-7] [R-15] [R-16] with a record that does not answer it is 503 in under a second, and the retry counts',
    {
      file: 'server/storage/sql/database-sqlite.ts',
      line: "call.reject(new Unavailable('The database did not answer in time.'));",
    },
  ),
  guardIn(
    'test/races/sealing.test.ts',
    '[I-1] [F-12] two who seal the same interval at once: one does, the other hears it',
    {
      file: 'server/realtime/feed/sealing-sql.ts',
      line: ' where interval = $1 and interval < $2',
      instead: ' where $1::bigint = $1 and $2::bigint = $2',
    },
  ),
  guardIn(
    'test/races/sealing.test.ts',
    '[I-1] [I-2] [N-4] of three sealers one seals an interval, and every event is in one, in order',
    { file: 'server/realtime/feed/sealing-sql.ts', line: 'await takeFromOutbox(tx, taken);' },
  ),
  guardIn(
    'test/races/stalled.test.ts',
    '[N-4] who finds another sealing under way hears so at once, and does not wait for it',
    {
      file: 'server/storage/sql/postgres.ts',
      line: "claim: 'for no key update skip locked'",
      instead: "claim: 'for no key update'",
    },
  ),
  guardIn(
    'test/races/stalled.test.ts',
    '[N-21] [W-4] winners who stall before their round is announced hold up nothing, and are counted',
    { file: 'server/storage/sql/postgres.ts', line: "'for key share'", instead: "'for share'" },
  ),
  guardIn(
    'test/races/answers.test.ts',
    '[I-3] [N-18] a seat that answers on three nodes at once has one answer: the one that was acknowledged',
    {
      file: 'server/storage/sql/migrations/0001-record.sql',
      line: 'primary key (quiz, seat)',
      instead: 'check (true)',
    },
  ),
  guardIn(
    'test/races/answers.test.ts',
    '[I-3] [Q-16] [Q-17] of the answers that race a close, those that were acknowledged are counted',
    { file: 'server/storage/sql/postgres.ts', line: "'for key share'", instead: "''" },
  ),
  guardIn(
    'server/realtime/coordination/seal-coordinator-redis.test.ts',
    '[N-12] [C-6] the watermark is never below what a node has served: a slow sealer takes nothing from later intervals',
    {
      file: 'server/storage/redis/library/sealing.lua',
      line: 'if interval > watermark then',
      instead: 'if true then',
    },
  ),
];

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COPIED = ['bin', 'protocol', 'server', 'test', 'package.json', 'tsconfig.json'];
const TEST_LIMIT_MS = 60_000;

/** Takes out each guard whose title has these words. @returns whether every test went red */
function checkAll(words: string): boolean {
  console.log('| test | taken out | what it said |\n|---|---|---|');
  let allRed = true;
  for (const { removals, file, title } of GUARDS.filter((one) => one.title.includes(words))) {
    const whole = run(file, title, []);
    const without = run(file, title, removals);
    const isRed = whole.passed && !without.passed;
    allRed &&= isRed;
    const places = removals.map((removal) => `${removal.file}:${lineNumber(removal)}`);
    const said = isRed ? without.said : `NOT RED (${whole.passed ? 'stays green' : whole.said})`;
    console.log(`| ${title} | ${places.join(', ')} | ${said.replaceAll('|', '\\|')} |`);
  }
  return allRed;
}

function run(file: string, title: string, removals: readonly Removal[]) {
  const copy = mkdtempSync(join(tmpdir(), 'fourbeat-guards-'));
  try {
    for (const path of COPIED) cpSync(join(ROOT, path), join(copy, path), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    for (const { file: source, line, instead = '' } of removals) {
      const text = readFileSync(join(copy, source), 'utf8');
      writeFileSync(
        join(copy, source),
        text.replace(line, () => instead),
      );
    }
    const pattern = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const args = ['test', `--timeout=${TEST_LIMIT_MS}`, file, '-t', pattern];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8' });
    // A run that crashed, or in which the test did not run, proves nothing.
    const ran = stderr.includes(`${status === 0 ? '(pass)' : '(fail)'} `) && stderr.includes(title);
    return { passed: ran && status === 0, said: ran ? saidIn(stderr) : 'it did not run' };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What the test complained of, in one line. */
function saidIn(output: string): string {
  const from = output.search(/^error: |timed out/m);
  const lines = output.slice(Math.max(0, from)).split('\n');
  const end = lines.findIndex((line) => /^\s+at /.test(line) || line.startsWith('(fail)'));
  const words = lines.slice(0, end < 0 ? 8 : end + (end === 0 ? 1 : 0));
  return words.join(' ').replace(/\s+/g, ' ').trim().slice(0, 240);
}

function lineNumber({ file, line }: Removal): number {
  const text = readFileSync(join(ROOT, file), 'utf8');
  return text.slice(0, text.indexOf(line)).split('\n').length;
}

if (import.meta.main) process.exit(checkAll(process.argv.slice(2).join(' ')) ? 0 : 1);
