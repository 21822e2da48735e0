import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import { Refusal } from '../../platform/errors.ts';

// Any sequence of what hosts do to a rundown, on the real record and on a list that is kept by hand.

const STREAM = uuidOf(0);
const TIME_LIMIT_MS = 10_000;

interface Item {
  readonly id: string;
  readonly question: string;
  isDraft: boolean;
}

interface Model {
  /** As a host sees it. */
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

/** A step after which both are compared; it says whether it was to change the rundown. */
function command(text: string, run: (model: Model, real: Real) => Promise<boolean>): Command {
  return {
    check: () => true,
    toString: () => text,
    run: async (model, real) => {
      const isChanged = await run(model, real);
      const { quizzes, revision } = await real.show.store.listQuizzes(OWN);
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

/** The same places for published quizzes, and the drafts in this order on the others. */
function laidOut(items: readonly Item[], drafts: readonly Item[]): Item[] {
  const next = drafts.values();
  return items.map((item) => (item.isDraft ? (next.next().value as Item) : item));
}

async function isRefused(call: Promise<unknown>): Promise<boolean> {
  const outcome = await call.catch((error: unknown) => error);
  if (outcome instanceof Error && !(outcome instanceof Refusal)) throw outcome;
  return outcome instanceof Refusal;
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
    model.items = laidOut(
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

/** What an order that is given is like. */
const WAYS = [
  'without a revision',
  'of this revision',
  'of one before',
  'short',
  'doubled',
] as const;

const order = (way: (typeof WAYS)[number], keys: readonly number[]) =>
  command(`order ${way} ${keys}`, async (model, { show }) => {
    const drafts = draftsOf(model);
    const sorted = drafts
      .map((item, index) => ({ item, key: keys[index % keys.length] as number }))
      .sort((a, b) => a.key - b.key)
      .map(({ item }) => item);
    const ids = sorted.map(({ id }) => id);
    const given =
      way === 'short'
        ? ids.slice(1)
        : way === 'doubled'
          ? [...ids.slice(1), ...ids.slice(-1)]
          : ids;
    const revision =
      way === 'of this revision'
        ? model.revision
        : way === 'of one before'
          ? model.revision - 1
          : null;
    const isSame = given.length === ids.length && new Set(given).size === ids.length;
    const isRight = isSame && way !== 'of one before';
    const call = show.store.orderQuizzes({ ...OWN, order: given, revision });
    const refusal = await call.then(
      () => null,
      (error) => error,
    );
    if (!isRight) {
      expect(refusal).toBeInstanceOf(Refusal);
      expect(refusal.members).toEqual({ order: drafts.map(({ id }) => id) });
      return false;
    }
    expect(refusal).toBeNull();
    const before = model.items;
    model.items = laidOut(model.items, sorted);
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
      .tuple(fc.constantFrom(...WAYS), fc.array(fc.nat(99), { minLength: 1, maxLength: 9 }))
      .map((args) => order(...args)),
    fc
      .tuple(fc.constant(WAYS[1]), fc.array(fc.nat(99), { minLength: 3, maxLength: 9 }))
      .map((args) => order(...args)),
  ],
  { maxCommands: 40, size: 'max' },
);

test(
  '[D-1 – D-6] any sequence of steps leaves the rundown as a list that is kept by hand',
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
      { seed, numRuns: 200, interruptAfterTimeLimit: TIME_LIMIT_MS },
    );
    console.log(`rundown model: ${runs} sequences`);
    expect(runs).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS * 3,
);
