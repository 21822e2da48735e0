import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { rounds } from '../../../test/support/full-run.ts';
import { rundownOf } from '../../../test/support/quizzes/rundown.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import { DomainError } from '../../platform/errors.ts';

// Runs random sequences of changes of a rundown on the real database and on a plain list.

const STREAM = uuidOf(0);
const TIME_LIMIT_MS = rounds(5_000, 30_000);

interface Item {
  readonly id: string;
  readonly question: string;
  isDraft: boolean;
}

interface Model {
  /** In rundown order. */
  items: Item[];
  revision: number;
}

interface Real {
  readonly show: Show;
  nextId: number;
}

type Command = fc.AsyncCommand<Model, Real>;

const OWN = { streamId: STREAM, producer: PRODUCER };
const quizOf = (question: string) => ({
  question,
  choices: ['a', 'b'],
  answer: 'a',
  duration: 1_000,
  reveal: 'auto' as const,
});

/** A step, then a comparison with the list. @param run returns whether the rundown should change */
function command(text: string, run: (model: Model, real: Real) => Promise<boolean>): Command {
  return {
    check: () => true,
    toString: () => text,
    run: async (model, real) => {
      const isChanged = await run(model, real);
      const { quizzes, revision } = await rundownOf(real.show.store, OWN);
      expect(
        quizzes.map(({ id, question, state }) => ({ id, question, isDraft: state === 'draft' })),
      ).toEqual(model.items);
      expect(new Set(quizzes.map(({ position }) => position)).size).toBe(quizzes.length);
      if (isChanged) expect(revision).toBeGreaterThan(model.revision);
      else expect(revision).toBe(model.revision);
      model.revision = revision;
    },
  };
}

const pick = ({ items }: Model, index: number) => items[index % Math.max(1, items.length)];
const draftsOf = ({ items }: Model) => items.filter(({ isDraft }) => isDraft);

/** The items with published quizzes in their positions and the drafts, in this order, in the others. */
function withDrafts(items: readonly Item[], drafts: readonly Item[]): Item[] {
  const draftIterator = drafts.values();
  return items.map((item) => (item.isDraft ? (draftIterator.next().value as Item) : item));
}

async function isRefused(call: Promise<unknown>): Promise<boolean> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof Error && !(outcome instanceof DomainError)) throw outcome;
  return outcome instanceof DomainError;
}

function newItem(real: Real): Item {
  const number = real.nextId++;
  return { id: uuidOf(number), question: `Question ${number}?`, isDraft: true };
}

const create = command('create', async (model, real) => {
  const item = newItem(real);
  await real.show.store.createQuiz({ id: item.id, ...OWN, quiz: quizOf(item.question) });
  model.items.push(item);
  return true;
});

const importing = (count: number) =>
  command(`import ${count}`, async (model, real) => {
    const items = Array.from({ length: count }, () => newItem(real));
    const drafts = items.map(({ id, question }) => ({ id, quiz: quizOf(question) }));
    const rows = await real.show.store.importQuizzes({ ...OWN, drafts });
    expect(rows.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
    model.items.push(...items);
    return true;
  });

const duplicate = (index: number) =>
  command(`duplicate #${index}`, async (model, real) => {
    const original = pick(model, index);
    if (!original) return false;
    const copy = { ...newItem(real), question: original.question };
    const input = { id: original.id, producer: PRODUCER, copyId: copy.id };
    expect((await real.show.store.duplicateQuiz(input)).id).toBe(copy.id);
    const at = model.items.indexOf(original) + 1;
    const drafts = [...model.items.slice(0, at), copy, ...model.items.slice(at)];
    model.items = withDrafts(
      [...model.items, copy],
      drafts.filter(({ isDraft }) => isDraft),
    );
    return true;
  });

const remove = (index: number) =>
  command(`delete #${index}`, async (model, { show }) => {
    const item = pick(model, index);
    if (!item) return false;
    const call = show.store.deleteQuiz({ id: item.id, producer: PRODUCER });
    expect(await isRefused(call)).toBe(!item.isDraft);
    if (item.isDraft) model.items = model.items.filter((other) => other !== item);
    return item.isDraft;
  });

const publish = (index: number) =>
  command(`publish #${index}`, async (model, { show }) => {
    const item = pick(model, index);
    if (!item) return false;
    const input = { id: item.id, producer: PRODUCER, nowMs: SHOW_START_MS };
    expect(await isRefused(show.store.publishQuiz(input))).toBe(!item.isDraft);
    const isChanged = item.isDraft;
    item.isDraft = false;
    return isChanged;
  });

/** Kinds of orders that the test sends. */
const ORDER_KINDS = [
  'without a revision',
  'with the current revision',
  'with an older revision',
  'with a missing draft',
  'with a repeated draft',
] as const;

const order = (kind: (typeof ORDER_KINDS)[number], keys: readonly number[]) =>
  command(`order ${kind} ${keys}`, async (model, { show }) => {
    const drafts = draftsOf(model);
    const sorted = drafts
      .map((item, index) => ({ item, key: keys[index % keys.length] as number }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
    const ids = sorted.map(({ id }) => id);
    const sentOrder =
      kind === 'with a missing draft'
        ? ids.slice(1)
        : kind === 'with a repeated draft'
          ? [...ids.slice(1), ...ids.slice(-1)]
          : ids;
    const revision =
      kind === 'with the current revision'
        ? model.revision
        : kind === 'with an older revision'
          ? model.revision - 1
          : null;
    const isPermutation = sentOrder.length === ids.length && new Set(sentOrder).size === ids.length;
    const isValid = isPermutation && kind !== 'with an older revision';
    const call = show.store.orderQuizzes({ ...OWN, order: sentOrder, revision });
    const error = await call.then(
      () => null,
      (thrown) => thrown,
    );
    if (!isValid) {
      expect(error).toBeInstanceOf(DomainError);
      expect(error.members).toEqual({ order: drafts.map(({ id }) => id) });
      return false;
    }
    expect(error).toBeNull();
    const before = model.items;
    model.items = withDrafts(model.items, sorted);
    return model.items.some((item, index) => item !== before[index]);
  });

const index = fc.nat(9);
const steps = fc.commands(
  [
    fc.constant(create),
    fc.integer({ min: 1, max: 4 }).map(importing),
    index.map(duplicate),
    index.map(duplicate),
    index.map(remove),
    index.map(publish),
    fc
      .tuple(fc.constantFrom(...ORDER_KINDS), fc.array(fc.nat(99), { minLength: 1, maxLength: 9 }))
      .map((args) => order(...args)),
    fc
      .tuple(fc.constant(ORDER_KINDS[1]), fc.array(fc.nat(99), { minLength: 3, maxLength: 9 }))
      .map((args) => order(...args)),
  ],
  { maxCommands: 40, size: 'max' },
);

test(
  '[D-1 – D-6] the rundown is as a plain list after any sequence of steps',
  async () => {
    const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
    console.log(`rundown model: MODEL_SEED=${seed}`);
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const show = await openShow([STREAM], 0);
        try {
          await fc.asyncModelRun(
            () => ({ model: { items: [], revision: 0 }, real: { show, nextId: 1 } }),
            commands,
          );
          runs += 1;
        } finally {
          await show.close();
        }
      }),
      { seed, numRuns: rounds(100, 200), interruptAfterTimeLimit: TIME_LIMIT_MS },
    );
    console.log(`rundown model: ${runs} sequences`);
    expect(runs).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS * 3,
);
