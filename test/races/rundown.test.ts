import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { QuizRow } from '../../server/domains/quizzes/quizzes-sql.ts';
import type { Rundown } from '../../server/domains/rundown/read-rundown.ts';
import { DomainError } from '../../server/platform/errors.ts';
import {
  domainErrorsIn,
  errorKindsIn,
  FIRST_INTERVAL,
  NOW_MS,
  PRODUCER,
  QUIZ,
  RaceFixture,
} from '../support/database/race-fixture.ts';
import { rundownOf } from '../support/quizzes/rundown.ts';

// Concurrent changes of one rundown on several nodes.

const ROUNDS = 20;

const fixture = new RaceFixture();
beforeAll(() => fixture.open(), 30_000);
afterAll(() => fixture.close());

async function newRundown(count: number): Promise<{ streamId: string; ids: string[] }> {
  const streamId = await fixture.newStream();
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await fixture.newDraft(streamId)).id);
  return { streamId, ids };
}

const readRundown = (streamId: string) =>
  rundownOf(fixture.store, { streamId, producer: PRODUCER });
const idsOf = ({ quizzes }: Rundown<QuizRow>) => quizzes.map(({ id }) => id);
const ownQuiz = (id: string = crypto.randomUUID()) => ({ id, producer: PRODUCER });

/** Expects this number of quizzes, all with different positions. */
function expectDistinctPositions({ quizzes }: Rundown<QuizRow>, count: number): void {
  expect(quizzes).toHaveLength(count);
  expect(new Set(quizzes.map(({ position }) => position)).size).toBe(count);
}

test('[D-4] of three concurrent orders of one revision, one succeeds', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { streamId, ids } = await newRundown(5);
    const { revision } = await readRundown(streamId);
    const orders = fixture.nodes.map((_, index) => [
      ...ids.slice(index + 1),
      ...ids.slice(0, index + 1),
    ]);
    const outcomes = await fixture.onAll((node, index) => {
      const order = orders[index] ?? [];
      return node.orderQuizzes({ streamId, producer: PRODUCER, order, revision });
    });
    expect(errorKindsIn(outcomes)).toEqual(['conflict', 'conflict']);
    const winner = outcomes.findIndex((outcome) => !(outcome instanceof Error));
    const after = await readRundown(streamId);
    expect(idsOf(after)).toEqual(orders[winner] as string[]);
    // The errors of the others carry the current order.
    for (const refusal of domainErrorsIn(outcomes))
      expect(refusal.members).toEqual({ order: idsOf(after) });
  }
}, 30_000);

test('[D-3] [N-19] three concurrent orders without a revision leave one of those orders', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { streamId, ids } = await newRundown(6);
    const orders = fixture.nodes.map(() => fixture.shuffled(ids));
    const outcomes = await fixture.onAll((node, index) => {
      const order = orders[index] ?? [];
      return node.orderQuizzes({ streamId, producer: PRODUCER, order, revision: null });
    });
    expect(outcomes.filter((outcome) => outcome instanceof Error)).toEqual([]);
    const after = await readRundown(streamId);
    expectDistinctPositions(after, 6);
    expect(orders).toContainEqual(idsOf(after));
  }
}, 30_000);

test('[D-3] [D-4] [Q-5] a quiz that is published while drafts move keeps its position and is sent once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { streamId, ids } = await newRundown(5);
    const [first = ''] = ids;
    const order = ids.toReversed();
    const [published, ordered] = await fixture.onAll<unknown>(async (node, index) => {
      if (index === 0) return node.publishQuiz({ ...ownQuiz(first), nowMs: NOW_MS });
      if (index === 2) return null;
      return node.orderQuizzes({ streamId, producer: PRODUCER, order, revision: null });
    });
    expect(published).toMatchObject({ id: first, state: 'open' });
    const after = await readRundown(streamId);
    expectDistinctPositions(after, 5);
    // Either the order came first, or it failed because it contained a quiz that was no draft any more.
    if (ordered instanceof DomainError) {
      expect(idsOf(after)).toEqual(ids);
      expect(ordered.members).toEqual({ order: ids.slice(1) });
    } else expect(idsOf(after)).toEqual(order);
    const remaining = idsOf(after).filter((id) => id !== first);
    const again = { order: remaining.toReversed(), revision: after.revision };
    await fixture.store.orderQuizzes({ streamId, producer: PRODUCER, ...again });
    expect(idsOf(await readRundown(streamId)).indexOf(first)).toBe(idsOf(after).indexOf(first));
    await fixture.sealTo(FIRST_INTERVAL + round);
    const outcomes = await fixture.readSealedEvents(streamId);
    expect(outcomes.filter(({ type }) => type === 'quiz')).toHaveLength(1);
  }
}, 30_000);

test('[D-1] [D-5] [D-6] concurrent copies, imports and new quizzes are all stored, each import contiguously', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { streamId, ids } = await newRundown(3);
    const [a = '', b = '', c = ''] = ids;
    const drafts = () => [1, 2, 3, 4].map(() => ({ id: crypto.randomUUID(), quiz: QUIZ }));
    const imports = fixture.nodes.map(drafts);
    const outcomes = await fixture.onAll<unknown>((node, index) =>
      Promise.all([
        node.importQuizzes({ streamId, producer: PRODUCER, drafts: imports[index] ?? [] }),
        node.duplicateQuiz({ ...ownQuiz(b), copyId: crypto.randomUUID() }),
        node.createQuiz({ ...ownQuiz(), streamId, quiz: QUIZ }),
      ]),
    );
    expect(outcomes.filter((outcome) => outcome instanceof Error)).toEqual([]);
    const after = await readRundown(streamId);
    expectDistinctPositions(after, 3 + 3 * 6);
    const currentIds = idsOf(after);
    expect([currentIds.indexOf(a), currentIds.indexOf(b), currentIds.indexOf(c)]).toEqual([
      0, 1, 5,
    ]);
    for (const imported of imports) {
      const start = currentIds.indexOf(imported[0]?.id ?? '');
      expect(currentIds.slice(start, start + 4)).toEqual(imported.map(({ id }) => id));
    }
    expect(after.revision).toBe(3 + 3 * 3);
  }
}, 30_000);

test('[L-13] of three concurrent imports with capacity for one, one is stored as a whole', async () => {
  const { streamId } = await newRundown(1);
  const drafts = (count: number) =>
    Array.from({ length: count }, () => ({ id: crypto.randomUUID(), quiz: QUIZ }));
  for (const count of [500, 500, 500]) {
    await fixture.store.importQuizzes({ streamId, producer: PRODUCER, drafts: drafts(count) });
  }
  const outcomes = await fixture.onAll((node) =>
    node.importQuizzes({ streamId, producer: PRODUCER, drafts: drafts(300) }),
  );
  expect(errorKindsIn(outcomes)).toEqual(['conflict', 'conflict']);
  expectDistinctPositions(await readRundown(streamId), 1_801);
}, 30_000);

test('[N-21] a quiz closes while a transaction that orders the drafts is stalled', async () => {
  const { streamId, ids } = await newRundown(3);
  const [first = '', ...others] = ids;
  await fixture.store.publishQuiz({ ...ownQuiz(first), nowMs: NOW_MS });
  const host = await fixture.openClient();
  await host.query('begin');
  await host.query('select id from streams where id = $1 for no key update', [streamId]);
  await host.query('update quizzes set position = position where id = any($1)', [others]);
  await fixture.sealTo(FIRST_INTERVAL + ROUNDS + 8);
  expect((await fixture.store.findOwnQuiz(ownQuiz(first))).state).toBe('revealed');
  await host.query('rollback');
});
