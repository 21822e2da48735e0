import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WINNERS_SENT_MAX } from '../../../protocol/limits.ts';
import type { QuizResults } from '../../../protocol/quizzes.ts';
import { newStreamSchema, type WinnersRound } from '../../../protocol/studio.ts';
import { explainingTx, rowsRead, withSession } from '../../../test/support/database/query-plans.ts';
import { procedures } from '../../app/procedures.ts';
import type { Rows, SqlValue, Tx } from '../../storage/sql/procedure.ts';
import { openMigratedSqlite, type Sqlite } from '../../storage/sql/sqlite.ts';
import { quizDueWork } from './due-work.ts';
import { closeQuizzes, latestPublished, openQuizInterval } from './quizzes-sql.ts';
import { readRoundWinners } from './round-winners-sql.ts';

// Requests of a whole audience in one second must cost the database a few set-based statements that use
// an index. These tests check the number of statements and their query plans, not their time.

const PRODUCER = 'a producer';
const STREAM = 'a stream';
const OTHER_STREAM = 'another stream';
const OLDER_QUIZZES = 30;
const GAME_QUIZZES = 3;
const SEATS = 40;

const directory = mkdtempSync(join(tmpdir(), 'fourbeat-set-based-'));
let sqlite: Sqlite;

beforeAll(async () => {
  sqlite = await openMigratedSqlite(directory);
  await procedures.createAccount.run(sqlite, {
    user: { uuid: PRODUCER, email: 'a@example.org', name: 'A producer', created: 0 },
    token: { id: 'token', name: 'test', prefix: 'fb_', hash: 'hash' },
    nowMs: 0,
  });
  for (const id of [STREAM, OTHER_STREAM]) {
    const stream = newStreamSchema.parse({ title: 'A show' });
    await procedures.createStream.run(sqlite, {
      id,
      producer: PRODUCER,
      stream,
      nowMs: 0,
    });
    for (let quiz = 0; quiz < OLDER_QUIZZES; quiz++) await playQuiz(id, `older ${quiz}`);
    await requestWinners(id, 'older round');
    await sqlite.query(`update winners_rounds set state = 'closed' where stream_id = $1`, [id]);
    for (let quiz = 0; quiz < GAME_QUIZZES; quiz++) await playQuiz(id, `game ${quiz}`);
    await requestWinners(id, 'round');
  }
});

afterAll(async () => {
  await sqlite.close();
  rmSync(directory, { recursive: true, force: true });
});

async function requestWinners(streamId: string, name: string): Promise<void> {
  const id = `${streamId} ${name}`;
  await procedures.requestWinners.run(sqlite, { id, streamId, producer: PRODUCER, nowMs: 0 });
}

/** A quiz that every seat answered, even seats correctly, and that was revealed. */
async function playQuiz(streamId: string, name: string): Promise<void> {
  const own = { id: `${streamId} ${name}`, producer: PRODUCER };
  const quiz = { question: 'Is it?', choices: ['yes', 'no'], answer: 'yes', duration: 1_000 };
  await procedures.createQuiz.run(sqlite, {
    ...own,
    streamId,
    quiz: { ...quiz, reveal: 'auto' },
  });
  const { number } = await procedures.publishQuiz.run(sqlite, { ...own, nowMs: 0 });
  const seats = Array.from({ length: SEATS }, (_, seat) => seat);
  await procedures.recordAnswers.run(
    sqlite,
    seats.map((seat) => ({ quiz: number, created: 0, seat, choice: seat % 2, receivedMs: 0 })),
  );
  await closeQuizzes(sqlite, [{ number }]);
}

interface Statement {
  readonly text: string;
  readonly params: SqlValue[];
}

/** A transaction that records its statements. */
function recordingTx(): { tx: Tx; statements: Statement[] } {
  const statements: Statement[] = [];
  const query = <Row>(text: string, params: SqlValue[] = []): Promise<Rows<Row>> => {
    statements.push({ text, params });
    return sqlite.query<Row>(text, params);
  };
  return { tx: { ...sqlite, query }, statements };
}

/** The lines of the query plan that name the access to a table. */
async function accessesOf({ text, params }: Statement): Promise<string[]> {
  const rows = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
  return rows.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH) /.test(detail));
}

const claimOf = (streamId: string, seat: number) => ({ streamId, seat, receivedMs: 0 });

test('[W-6] [W-7] a thousand claims cost as many statements as one claim', async () => {
  const single = recordingTx();
  expect(await procedures.recordWinners.run(single.tx, [claimOf(STREAM, 0)])).toEqual(['won']);
  const many = recordingTx();
  const claims = Array.from({ length: 1_000 }, (_, n) => claimOf(STREAM, n % SEATS));
  expect(await procedures.recordWinners.run(many.tx, claims)).toEqual(
    claims.map(({ seat }) => (seat % 2 === 0 ? 'won' : { refusedBy: expect.any(Number) })),
  );
  expect(many.statements.length).toBe(single.statements.length);
});

test('[W-7] a claim reads the quizzes of its game only, not those of the whole stream', async () => {
  const { tx, statements } = recordingTx();
  await procedures.recordWinners.run(tx, [claimOf(STREAM, 0), claimOf(OTHER_STREAM, 1)]);
  const plans = (await Promise.all(statements.map(accessesOf))).flat();
  const quizAccesses = plans.filter((line) => /^\w+ q /.test(line));
  expect(quizAccesses.length).toBeGreaterThan(0);
  for (const line of quizAccesses) {
    expect(line).toContain('COVERING INDEX');
    expect(line).toEndWith('(stream_id=? AND game=?)');
  }
  const answerAccesses = plans.filter((line) => /^\w+ a /.test(line));
  expect(answerAccesses.length).toBeGreaterThan(0);
  for (const line of answerAccesses) expect(line).toEndWith('(quiz=? AND seat=?)');
});

test('[W-1] a request for winners reads its game from indexes', async () => {
  const { tx, statements } = recordingTx();
  const input = { id: 'a third round', streamId: STREAM, producer: PRODUCER, nowMs: 0 };
  await sqlite.query('savepoint request');
  await sqlite.query(`update winners_rounds set state = 'closed'`);
  await procedures.requestWinners.run(tx, input).catch(() => {});
  await sqlite.query('rollback to request');
  const counting = statements.filter(({ text }) => text.includes('as blocking'));
  const plans = (await Promise.all(counting.map(accessesOf))).flat();
  const accesses = plans.filter((line) => / q /.test(line));
  expect(accesses).toEqual([
    expect.stringContaining('COVERING INDEX quizzes_of_game'),
    expect.stringContaining('COVERING INDEX quizzes_not_revealed'),
  ]);
});

test('[Q-16] quizzes close with as many statements as one, and read answers in the order of their key', async () => {
  const reopen = (condition: string) =>
    sqlite.query<{ number: number }>(
      `update quizzes set state = 'open' where ${condition} returning number`,
    );
  const single = recordingTx();
  await closeQuizzes(single.tx, await reopen(`id = '${STREAM} game 0'`));
  const many = recordingTx();
  const quizzes = await reopen('true');
  const { results } = await closeQuizzes(many.tx, quizzes);
  expect(results).toHaveLength(quizzes.length);
  for (const { data } of results) {
    const { choices } = JSON.parse(data) as QuizResults;
    expect(choices.yes?.count).toBe(SEATS / 2);
    expect(choices.no?.count).toBe(SEATS / 2);
  }
  expect(quizzes.length).toBeGreaterThan(50);
  expect(many.statements.length).toBe(single.statements.length);
  const counting = many.statements.filter(({ text }) => text.includes('from answers'));
  const plans = (await Promise.all(counting.map(accessesOf))).flat();
  expect(plans.filter((line) => !line.includes('json_each'))).toEqual([
    'SEARCH answers USING PRIMARY KEY (quiz=?)',
  ]);
});

test('[S-17] openQuizInterval searches the index of published quizzes', async () => {
  const { tx, statements } = recordingTx();
  expect(await openQuizInterval(tx, STREAM, 0)).toBeNull();
  expect((await Promise.all(statements.map(accessesOf))).flat()).toEqual([
    'SEARCH quizzes USING COVERING INDEX quizzes_told (stream_id=? AND told_interval>?)',
  ]);
});

test('[L-13] [S-8] streams are counted in an index without their texts, and listed in its order', async () => {
  const { tx, statements } = recordingTx();
  const stream = newStreamSchema.parse({ title: 'A show' });
  const owned = { id: 'counted', producer: PRODUCER, stream, nowMs: 0 };
  await procedures.createStream.run(tx, owned);
  const list = { producer: PRODUCER, withUnlisted: true, limit: 1, offset: 0 };
  await procedures.listStreams.run(tx, list);
  const counts = statements.filter(({ text }) => /count\(\*\).* from streams/.test(text));
  expect(counts).toHaveLength(2);
  for (const [access] of await Promise.all(counts.map(accessesOf))) {
    expect(access).toContain('USING COVERING INDEX streams_of_producer (producer=?');
  }
  const pages = statements.filter(({ text }) => text.includes('order by number'));
  for (const { text, params } of pages) {
    const plan = await sqlite.query<{ detail: string }>(`explain query plan ${text}`, params);
    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH streams USING INDEX streams_of_producer (producer=?)',
    ]);
  }
});

test('[W-14] a list of contact details reads the newest ones of its round only', async () => {
  const { tx, statements } = recordingTx();
  const input = { streamId: STREAM, producer: PRODUCER, roundId: `${STREAM} round` };
  await procedures.listContacts.run(tx, input);
  const last = statements.at(-1) as Statement;
  const plan = await sqlite.query<{ detail: string }>(
    `explain query plan ${last.text}`,
    last.params,
  );
  const lines = plan.map(({ detail }) => detail);
  const search = lines.indexOf(
    'SEARCH winner_contacts USING INDEX winner_contacts_newest (round=?)',
  );
  expect(search).toBeGreaterThan(-1);
  expect(lines.filter((line) => line.startsWith('USE TEMP B-TREE'))).toEqual([]);
});

test('[W-3] a round reads the text of one quiz at most, however many its game has', async () => {
  const { tx, statements } = recordingTx();
  const round = { id: 'another', streamId: STREAM, producer: PRODUCER, nowMs: 0 };
  await sqlite.query(`update winners_rounds set state = 'closed' where stream_id = $1`, [STREAM]);
  await sqlite.query('update streams set game = game - 1 where id = $1', [STREAM]);
  await sqlite.query(`update quizzes set state = 'closed' where id like $1`, [`${STREAM} game %`]);
  await expect(procedures.requestWinners.run(tx, round)).rejects.toThrow('is not revealed yet');
  const texts = statements.filter(({ text }) => text.includes('question'));
  expect(texts.map(({ text }) => text)).toEqual([
    'select state, question from quizzes where number = $1',
  ]);
});

test('[W-14] a viewer reads and erases its contact details without those of other streams, and reads 100 rounds at most', async () => {
  const { tx, statements } = recordingTx();
  expect(await procedures.readOwnContact.run(tx, { streamId: STREAM, seat: 0 })).toEqual({
    request: null,
    hasDetails: false,
  });
  await procedures.eraseOwnContact.run(tx, { streamId: STREAM, seat: 0 });
  for (const { params } of statements.slice(0, 2)) expect(params).toContain(100);
  const [reading, searching, erasing] = await Promise.all(statements.map(accessesOf));
  expect(reading).toContain(
    'SEARCH winners_rounds USING INDEX winners_rounds_with_note (stream_id=?)',
  );
  expect(reading?.filter((line) => line.startsWith('SEARCH w '))).toEqual([
    'SEARCH w USING COVERING INDEX sqlite_autoindex_winners_1 (round=? AND seat=?)',
  ]);
  expect(searching?.filter((line) => !line.startsWith('SCAN newest'))).toEqual([
    'SEARCH winners_rounds USING COVERING INDEX winners_rounds_of_stream (stream_id=?)',
    expect.stringMatching(/^SEARCH c USING COVERING INDEX \S+ \(\w+=\? AND \w+=\?\)$/),
  ]);
  expect(erasing).toEqual([
    'SEARCH r USING COVERING INDEX winners_rounds_of_stream (stream_id=?)',
    expect.stringMatching(/^SEARCH c USING COVERING INDEX \S+ \(\w+=\? AND \w+=\?\)$/),
  ]);
});

test('[B-1] latestPublished reads one row from the index of published quizzes', async () => {
  const { tx, statements } = recordingTx();
  expect((await latestPublished(tx, STREAM))?.id).toBe(`${STREAM} game ${GAME_QUIZZES - 1}`);
  const plans = await Promise.all(
    statements.map(({ text, params }) =>
      sqlite.query<{ detail: string }>(`explain query plan ${text}`, params),
    ),
  );
  expect(plans.flat().map(({ detail }) => detail)).toEqual([
    'SEARCH quizzes USING INDEX quizzes_published (stream_id=? AND created>?)',
  ]);
});

// With a join of streams, each stream cost a search of all due quizzes: 6 s for 3,000 after a first show alone.
test('[Q-16] a sealing reads a due quiz a few times in PostgreSQL, also when its statistics know of one stream', async () => {
  await withSession(async (session) => {
    const insertStreams = (from: number, to: number) =>
      session.query(
        `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status, created)
         select 's' || n, n, 'a', 'A show', 0, 0, 'STREAMING', 0 from generate_series(${from}, ${to}) n`,
      );
    await session.query(
      `insert into accounts (uuid, email, name, created) values ('a', 'a', 'A', 0)`,
    );
    await insertStreams(1, 1);
    await session.run('vacuum analyze');
    // Sealings use a plan that was made with these statistics.
    const from = quizDueWork.queries[0]?.from.replaceAll('$3', '1');
    await session.run(
      `prepare due_quizzes as with backlog as (select id as stream_id from streams where false)
       select * from ${from}`,
    );
    await session.query('explain execute due_quizzes');
    await insertStreams(2, 300);
    await session.query(
      `insert into quizzes (id, number, stream_id, state, question, choices, answer, duration_ms, reveal,
         close_interval, game)
       select 'q' || n, n, 's' || n, 'open', '?', '["a","b"]', 0, 1000, 'auto', 1, 0
       from generate_series(1, 300) n`,
    );
    const [row] = await session.query<{ 'QUERY PLAN': string }>(
      'explain (analyze, format json) execute due_quizzes',
    );
    const plan = JSON.parse(row?.['QUERY PLAN'] ?? '')[0].Plan;
    expect(plan['Actual Rows']).toBe(300);
    expect(rowsRead(plan, 'quizzes')).toBeLessThan(3 * 300);
  });
}, 30_000);

test('[B-4] the winners on screen are read without the others of their round in PostgreSQL', async () => {
  await withSession(async (session) => {
    for (const statement of [
      `insert into accounts (uuid, email, name, created) values ('a', 'a', 'A', 0)`,
      `insert into streams (id, number, producer, title, unlisted, latency_allowance_ms, status, created)
       values ('s', 1, 'a', 'A show', 0, 0, 'STREAMING', 0)`,
      `insert into seats (stream_id, seat, viewer) select 's', n, 'v' || n from generate_series(1, 5000) n`,
      `insert into winners_rounds (id, number, stream_id, game, quizzes, state, count, requested)
       values ('r', 1, 's', 0, 0, 'closed', 5000, 0)`,
      `insert into winners (round, seat, received) select 1, n, 0 from generate_series(1, 5000) n`,
      'analyze winners',
      'analyze seats',
    ]) {
      await session.query(statement);
    }
    let winners = 0;
    const tx = explainingTx(session, (plan) => {
      winners += rowsRead(plan, 'winners');
    });
    const round = { id: 'r', count: 5_000 } as WinnersRound;
    expect(await readRoundWinners(tx, round, 0)).toHaveLength(WINNERS_SENT_MAX);
    expect(winners).toBeLessThan(3 * WINNERS_SENT_MAX);
  });
}, 30_000);
