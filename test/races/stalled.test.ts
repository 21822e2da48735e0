import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client } from 'pg';
import { intervalStartMs } from '../../protocol/interval.ts';
import { newRehearsalSchema } from '../../protocol/rehearsal.ts';
import { procedures } from '../../server/app/procedures.ts';
import { answerProcedures } from '../../server/domains/quizzes/answers-sql.ts';
import { closeQuizzes } from '../../server/domains/quizzes/quizzes-sql.ts';
import { winnersProcedures } from '../../server/domains/quizzes/winners-sql.ts';
import type { PostgresSession } from '../../server/storage/sql/postgres.ts';
import type { Procedure, SqlValue, Tx } from '../../server/storage/sql/procedure.ts';
import {
  errorKindOf,
  FIRST_INTERVAL,
  NOW_MS,
  numberIn,
  PRODUCER,
  RaceFixture,
  sendEvent,
} from '../support/database/race-fixture.ts';

// Sealing while other transactions stall and hold their locks.

// Much longer than a sealing takes, and shorter than its lock timeout.
const STUCK_AFTER_MS = 3_000;

const fixture = new RaceFixture();
beforeAll(() => fixture.open(), 30_000);
afterAll(() => fixture.close());

let sealedTo = FIRST_INTERVAL;
/** The next interval to seal; all tests share one watermark. */
const nextInterval = () => ++sealedTo;

/** A transaction that ran these statements, holds their locks, and does not commit. */
async function stallAfter(...statements: [text: string, ...params: unknown[]][]): Promise<Client> {
  const client = await fixture.openClient();
  await client.query('begin');
  for (const [text, ...params] of statements) await client.query(text, params);
  return client;
}

/** A transaction that ran a procedure and does not commit. */
async function stallInProcedure<Input>(
  { run }: Procedure<Input, unknown>,
  input: Input,
): Promise<PostgresSession> {
  const session = await fixture.openSession();
  await session.run('begin; set local idle_in_transaction_session_timeout = 0');
  await run(session, input);
  return session;
}

/** A stalled transaction that stores a claim in each of these streams. */
function stallClaims(streamIds: readonly string[]): Promise<PostgresSession> {
  const receivedMs = intervalStartMs(sealedTo);
  const claims = streamIds.map((streamId) => ({ streamId, seat: 0, receivedMs }));
  return stallInProcedure(winnersProcedures.recordWinners, claims);
}

async function requestWinners(): Promise<{ id: string; streamId: string; producer: string }> {
  const own = { id: crypto.randomUUID(), streamId: await fixture.newStream(), producer: PRODUCER };
  await fixture.store.requestWinners({ ...own, nowMs: intervalStartMs(sealedTo) });
  return own;
}

/** Resolves when some transaction waits for a lock. */
async function waitForBlockedLock(): Promise<void> {
  const outsider = await fixture.openClient();
  const isWaiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
  while ((await outsider.query(isWaiting)).rowCount === 0) await Bun.sleep(2);
}

/** The result of a sealing, or `stuck` when it waits for a lock of a stalled transaction. */
function orStuck<T>(sealing: Promise<T>): Promise<T | 'stuck'> {
  return Promise.race([sealing, Bun.sleep(STUCK_AFTER_MS).then(() => 'stuck' as const)]);
}

test('[N-4] a sealer returns `busy` at once while another sealer holds the lock', async () => {
  await fixture.sealTo(sealedTo);
  const other = await stallAfter(['select id from watermark for no key update']);
  expect(await orStuck(fixture.sealNext(sealedTo + 1))).toEqual({ outcome: 'busy' });
  await other.query('rollback');
  expect(await fixture.sealNext(nextInterval())).toMatchObject({ outcome: 'sealed' });
});

test('[N-21] [P-14] a stalled producer transaction delays the end of its stream, and neither the feed nor its events', async () => {
  await fixture.sealTo(sealedTo);
  const [locked, free] = [await fixture.newStream(), await fixture.newStream()];
  const endsAt = intervalStartMs(sealedTo + 1);
  for (const id of [locked, free]) {
    await sendEvent(fixture.store, id, { number: 1 });
    await fixture.store.endStream({ id, producer: PRODUCER, atMs: endsAt, nowMs: endsAt - 1 });
  }
  const producer = await stallAfter([
    'select id from streams where id = $1 for no key update',
    locked,
  ]);
  const sealing = await orStuck(fixture.sealNext(nextInterval()));
  expect(sealing).toMatchObject({ outcome: 'sealed' });
  const statusOf = async (id: string) =>
    (await fixture.store.findOwnStream({ id, producer: PRODUCER })).status;
  expect([await statusOf(free), await statusOf(locked)]).toEqual(['ENDED', 'CREATED']);
  for (const id of [locked, free]) {
    expect((await fixture.readSealedEvents(id)).map(numberIn)).toEqual([1]);
  }
  await producer.query('rollback');
  await fixture.sealNext(nextInterval());
  expect(await statusOf(locked)).toBe('ENDED');
});

test('[P-2] a write of another account takes no lock of a stream', async () => {
  const id = await fixture.newStream();
  const owner = await stallAfter(['select id from streams where id = $1 for no key update', id]);
  const foreign = { id, producer: crypto.randomUUID(), nowMs: NOW_MS };
  const start = fixture.store.startStream(foreign).catch((error) => error);
  expect(errorKindOf(await orStuck(start))).toBe('not-found');
  await owner.query('rollback');
});

test('[N-21] [Q-16] a stalled batch of answers delays the close of its quiz, and nothing else', async () => {
  await fixture.sealTo(sealedTo);
  const nowMs = intervalStartMs(sealedTo);
  const quiz = await fixture.newQuiz(await fixture.newStream(), nowMs);
  const other = await fixture.newQuiz(await fixture.newStream(), nowMs);
  const answering = await stallInProcedure(answerProcedures.recordAnswers, [
    { quiz: quiz.number, created: quiz.created, seat: 0, choice: 0, receivedMs: nowMs },
  ]);
  sealedTo = quiz.closeInterval;
  expect(await orStuck(fixture.sealTo(sealedTo))).not.toBe('stuck');
  const rowOf = (id: string) => fixture.store.findOwnQuiz({ id, producer: PRODUCER });
  expect(await rowOf(other.id)).toMatchObject({ state: 'revealed', counts: [0, 0, 0] });
  expect(await rowOf(quiz.id)).toMatchObject({ state: 'open' });
  await answering.run('commit');
  await fixture.sealNext(nextInterval());
  expect(await rowOf(quiz.id)).toMatchObject({ state: 'revealed', counts: [1, 0, 0] });
});

test('[N-21] [W-5] a stalled batch of claims delays the count of its round, and nothing else', async () => {
  await fixture.sealTo(sealedTo);
  const own = await requestWinners();
  await fixture.sealNext(nextInterval());
  const claiming = await stallClaims([own.streamId]);
  sealedTo += 4;
  await fixture.sealTo(sealedTo - 2);
  expect(await orStuck(fixture.sealTo(sealedTo))).not.toBe('stuck');
  expect(await fixture.store.listWinnersRounds(own)).toMatchObject([{ state: 'open' }]);
  await claiming.run('commit');
  await fixture.sealNext(nextInterval());
  expect(await fixture.store.listWinnersRounds(own)).toMatchObject([{ state: 'closed', count: 1 }]);
});

test('[N-21] [W-4] claims that stall before their round is sealed delay no sealing, and are counted', async () => {
  await fixture.sealTo(sealedTo);
  const own = await requestWinners();
  const claiming = await stallClaims([own.streamId]);
  const sealing = await orStuck(fixture.sealNext(nextInterval()));
  expect(sealing).toMatchObject({ outcome: 'sealed' });
  const types = async () => (await fixture.readSealedEvents(own.streamId)).map(({ type }) => type);
  expect(await types()).toEqual(['request-quiz-winners']);
  sealedTo += 4;
  await fixture.sealTo(sealedTo - 2);
  expect(await orStuck(fixture.sealTo(sealedTo))).not.toBe('stuck');
  expect(await fixture.store.listWinnersRounds(own)).toMatchObject([{ state: 'open' }]);
  await claiming.run('commit');
  await fixture.sealNext(nextInterval());
  expect(await fixture.store.listWinnersRounds(own)).toMatchObject([{ state: 'closed', count: 1 }]);
  expect(await types()).toEqual(['request-quiz-winners', 'quiz-winners']);
});

test('[W-5] a round is prolonged after skipped intervals while its claims are stalled', async () => {
  await fixture.sealTo(sealedTo);
  const own = await requestWinners();
  await fixture.sealNext(nextInterval());
  const claiming = await stallClaims([own.streamId]);
  sealedTo += 4;
  expect(await orStuck(fixture.sealTo(sealedTo))).not.toBe('stuck');
  await claiming.run('commit');
  await fixture.sealNext(nextInterval());
  expect(await fixture.store.listWinnersRounds(own)).toMatchObject([{ state: 'open' }]);
});

test('[N-21] [N-19] claims of several streams wait for a round that is closing, and sealing does not wait for them', async () => {
  await fixture.sealTo(sealedTo);
  const closing = await requestWinners();
  await fixture.sealNext(nextInterval());
  sealedTo += 3;
  await fixture.sealTo(sealedTo - 1);
  await fixture.sealTo(sealedTo);
  const announced = await requestWinners();
  const claiming = await stallClaims([announced.streamId]);
  const sealer = await fixture.openSession();
  const hasClosed = Promise.withResolvers<void>();
  const resume = Promise.withResolvers<void>();
  const query: Tx['query'] = async <Row>(text: string, params?: SqlValue[]) => {
    const rows = await sealer.query<Row>(text, params);
    if (text.includes("set state = 'closed'")) {
      hasClosed.resolve();
      await resume.promise;
    }
    return rows;
  };
  await sealer.run('begin');
  const interval = nextInterval();
  const sealing = { after: interval - 1, interval, nowMs: NOW_MS, transients: [] };
  const { rows, locks, timeline, insertNew, monotonicMs } = sealer;
  const tx = { rows, locks, timeline, insertNew, monotonicMs, query };
  const sealed = procedures.sealInterval.run(tx, sealing);
  await hasClosed.promise;
  const receivedMs = intervalStartMs(interval);
  const claim = { streamId: closing.streamId, seat: 0, receivedMs };
  const late = winnersProcedures.recordWinners.run(claiming, [claim]).catch((error) => error);
  await waitForBlockedLock();
  resume.resolve();
  expect(await orStuck(sealed)).toMatchObject({ outcome: 'sealed' });
  await sealer.run('commit');
  expect(await late).toEqual(['no-round']);
  await claiming.run('commit');
  sealedTo += 4;
  await fixture.sealTo(sealedTo - 2);
  await fixture.sealTo(sealedTo);
  expect(await fixture.store.listWinnersRounds(closing)).toMatchObject([{ count: 0 }]);
  expect(await fixture.store.listWinnersRounds(announced)).toMatchObject([{ count: 1 }]);
});

test('[Y-10] a rehearsal is removed also while a viewer of it gets a seat', async () => {
  const show = { showId: await fixture.newStream(), producer: PRODUCER, nowMs: NOW_MS };
  const id = crypto.randomUUID();
  const settings = newRehearsalSchema.parse({ viewers: 1, latencyMs: 0 });
  await fixture.store.createRehearsal({ ...show, id, node: 'a', settings });
  await fixture.store.dismissRehearsal(show);
  const viewer = await stallAfter([
    'insert into seats (stream_id, viewer, seat) values ($1, $2, 0)',
    id,
    'a viewer',
  ]);
  const removing = fixture.store.removeRehearsal({ nowMs: NOW_MS });
  await waitForBlockedLock();
  await viewer.query('commit');
  expect(await removing).toBe(true);
  const stream = { id, producer: PRODUCER };
  expect(await fixture.store.findOwnStream(stream).catch(errorKindOf)).toBe('not-found');
});

test('[Y-10] [Q-16] a quiz that the removal of its rehearsal resets while a sealing finds it due does not close', async () => {
  const nowMs = intervalStartMs(sealedTo);
  const reset = await fixture.newQuiz(await fixture.newStream(), nowMs);
  const other = await fixture.newQuiz(await fixture.newStream(), nowMs);
  const client = await fixture.openClient();
  const sealer = await fixture.openSession();
  await sealer.run('begin');
  await client.query(
    `update quizzes set state = 'draft', created = null, close_interval = null where id = $1`,
    [reset.id],
  );
  const { results } = await closeQuizzes(sealer, [reset, other]);
  expect(results.map(({ streamId }) => streamId)).toEqual([other.streamId]);
  await sealer.run('commit');
  const row = await fixture.store.findOwnQuiz({ id: reset.id, producer: PRODUCER });
  expect(row).toMatchObject({ state: 'draft', counts: null });
});

test('[Y-10] a rehearsal with waiting events, or one that is locked, delays the removal of no other', async () => {
  const settings = newRehearsalSchema.parse({ viewers: 1, latencyMs: 0 });
  const [busy, locked, quiet] = Array.from({ length: 3 }, () => crypto.randomUUID());
  for (const [number, id] of [busy, locked, quiet].entries()) {
    const show = { showId: await fixture.newStream(), producer: PRODUCER, nowMs: NOW_MS + number };
    await fixture.store.createRehearsal({ ...show, id: id as string, node: 'a', settings });
    await fixture.store.dismissRehearsal(show);
  }
  const client = await fixture.openClient();
  await client.query(`insert into outbox values ($1, 100, 'product', '{}')`, [busy]);
  const other = await stallAfter([
    'select 1 from rehearsals where stream_id = $1 for update',
    locked,
  ]);
  while (await fixture.store.removeRehearsal({ nowMs: NOW_MS })) {
    // Until nothing more can be removed now.
  }
  await other.query('rollback');
  const found = [busy, locked, quiet].map((id) =>
    fixture.store
      .findOwnStream({ id: id as string, producer: PRODUCER })
      .then(() => 'found', errorKindOf),
  );
  expect(await Promise.all(found)).toEqual(['found', 'found', 'not-found']);
});
