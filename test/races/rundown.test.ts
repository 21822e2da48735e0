import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { RundownRows } from '../../server/domains/rundown/rundown-sql.ts';
import { Refusal } from '../../server/platform/errors.ts';
import {
  FIRST_INTERVAL,
  type Fixture,
  NOW_MS,
  newDraft,
  newStream,
  onAll,
  openFixture,
  PRODUCER,
  QUIZ,
  refusalsIn,
  refusedKinds,
  sealTo,
  shuffled,
  toldOf,
} from '../support/database/race-fixture.ts';

// Hosts who lay out one rundown on several nodes at once.

const ROUNDS = 20;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
}, 30_000);
afterAll(() => fixture.close());

async function newRundown(count: number): Promise<{ streamId: string; ids: string[] }> {
  const streamId = await newStream(fixture);
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push((await newDraft(fixture, streamId)).id);
  return { streamId, ids };
}

const rundown = (streamId: string) => fixture.any.listQuizzes({ streamId, producer: PRODUCER });
const idsOf = ({ quizzes }: RundownRows) => quizzes.map(({ id }) => id);
const own = (id: string = crypto.randomUUID()) => ({ id, producer: PRODUCER });

/** Every place is of one quiz, however they met. */
function expectWhole({ quizzes }: RundownRows, count: number): void {
  expect(quizzes).toHaveLength(count);
  expect(new Set(quizzes.map(({ position }) => position)).size).toBe(count);
}

test('[D-4] of three hosts who order the rundown that all of them saw, one does', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { streamId, ids } = await newRundown(5);
    const { revision } = await rundown(streamId);
    const orders = fixture.nodes.map((_, index) => [
      ...ids.slice(index + 1),
      ...ids.slice(0, index + 1),
    ]);
    const told = await onAll(fixture, (node, index) => {
      const order = orders[index] ?? [];
      return node.orderQuizzes({ streamId, producer: PRODUCER, order, revision });
    });
    expect(refusedKinds(told)).toEqual(['conflict', 'conflict']);
    const winner = told.findIndex((one) => !(one instanceof Error));
    const after = await rundown(streamId);
    expect(idsOf(after)).toEqual(orders[winner] as string[]);
    expect(told[winner]).toEqual(after);
    // The others hear what it is now.
    for (const refusal of refusalsIn(told))
      expect(refusal.members).toEqual({ order: idsOf(after) });
  }
}, 30_000);

test('[D-3] [N-19] three hosts who do not say what they saw leave the order of one of them', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { streamId, ids } = await newRundown(6);
    const orders = fixture.nodes.map(() => shuffled(ids, fixture.random));
    const told = await onAll(fixture, (node, index) => {
      const order = orders[index] ?? [];
      return node.orderQuizzes({ streamId, producer: PRODUCER, order, revision: null });
    });
    expect(told.filter((one) => one instanceof Error)).toEqual([]);
    const after = await rundown(streamId);
    expectWhole(after, 6);
    expect(orders).toContainEqual(idsOf(after));
  }
}, 30_000);

test('[D-3] [D-4] [Q-5] a quiz that is published while drafts are moved keeps its place, and is told once', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { streamId, ids } = await newRundown(5);
    const [first = ''] = ids;
    const order = ids.toReversed();
    const [published, ordered] = await onAll<unknown>(fixture, async (node, index) => {
      if (index === 0) return node.publishQuiz({ ...own(first), nowMs: NOW_MS });
      if (index === 2) return null;
      return node.orderQuizzes({ streamId, producer: PRODUCER, order, revision: null });
    });
    expect(published).toMatchObject({ id: first, state: 'open' });
    const after = await rundown(streamId);
    expectWhole(after, 5);
    // Either all was moved and then published, or the order had one that was no draft any more.
    if (ordered instanceof Refusal) {
      expect(idsOf(after)).toEqual(ids);
      expect(ordered.members).toEqual({ order: ids.slice(1) });
    } else expect(idsOf(after)).toEqual(order);
    const left = idsOf(after).filter((id) => id !== first);
    const again = {
      streamId,
      producer: PRODUCER,
      order: left.toReversed(),
      revision: after.revision,
    };
    const place = idsOf(after).indexOf(first);
    expect(idsOf(await fixture.any.orderQuizzes(again)).indexOf(first)).toBe(place);
    await sealTo(fixture.any, FIRST_INTERVAL + round);
    const told = await toldOf(fixture, streamId);
    expect(told.filter(({ type }) => type === 'quiz')).toHaveLength(1);
  }
}, 30_000);

test('[D-1] [D-5] [D-6] copies, imports and new quizzes at once are all there, each import in one piece', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { streamId, ids } = await newRundown(3);
    const [a = '', b = '', c = ''] = ids;
    const drafts = () => [1, 2, 3, 4].map(() => ({ id: crypto.randomUUID(), quiz: QUIZ }));
    const imports = fixture.nodes.map(drafts);
    const told = await onAll<unknown>(fixture, (node, index) =>
      Promise.all([
        node.importQuizzes({ streamId, producer: PRODUCER, drafts: imports[index] ?? [] }),
        node.duplicateQuiz({ ...own(b), copyId: crypto.randomUUID() }),
        node.createQuiz({ ...own(), streamId, quiz: QUIZ }),
      ]),
    );
    expect(told.filter((one) => one instanceof Error)).toEqual([]);
    const after = await rundown(streamId);
    expectWhole(after, 3 + 3 * 6);
    const now = idsOf(after);
    expect([now.indexOf(a), now.indexOf(b), now.indexOf(c)]).toEqual([0, 1, 5]);
    for (const made of imports) {
      const at = now.indexOf(made[0]?.id ?? '');
      expect(now.slice(at, at + 4)).toEqual(made.map(({ id }) => id));
    }
    expect(after.revision).toBe(3 + 3 * 3);
  }
}, 30_000);

test('[L-13] of three imports at once for which there is room for one, one is made as a whole', async () => {
  const { streamId } = await newRundown(1);
  const drafts = (count: number) =>
    Array.from({ length: count }, () => ({ id: crypto.randomUUID(), quiz: QUIZ }));
  for (const count of [500, 500, 500]) {
    await fixture.any.importQuizzes({ streamId, producer: PRODUCER, drafts: drafts(count) });
  }
  const told = await onAll(fixture, (node) =>
    node.importQuizzes({ streamId, producer: PRODUCER, drafts: drafts(300) }),
  );
  expect(refusedKinds(told)).toEqual(['conflict', 'conflict']);
  expectWhole(await rundown(streamId), 1_801);
}, 30_000);

test('[N-21] a quiz closes while its host’s order of the drafts is stalled', async () => {
  const { streamId, ids } = await newRundown(3);
  const [first = '', ...others] = ids;
  await fixture.any.publishQuiz({ ...own(first), nowMs: NOW_MS });
  const host = await fixture.outsider();
  await host.query('begin');
  await host.query('select id from streams where id = $1 for no key update', [streamId]);
  await host.query('update quizzes set position = position where id = any($1)', [others]);
  await sealTo(fixture.any, FIRST_INTERVAL + ROUNDS + 8);
  expect((await fixture.any.findOwnQuiz(own(first))).state).toBe('revealed');
  await host.query('rollback');
});
