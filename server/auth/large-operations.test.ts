import { expect, test } from 'bun:test';
import { ChangedMeanwhile, RateLimited, Unavailable } from '../platform/errors.ts';
import { Pace } from '../platform/pace.ts';
import {
  LARGE_OPERATIONS_ACTIVE_MAX,
  LARGE_OPERATIONS_MAX,
  LARGE_OPERATIONS_OF_MEMBER_MAX,
  LARGE_OPERATIONS_OF_PROGRAMS_MAX,
} from './caller-limiter.ts';
import type { StudioCaller } from './credentials.ts';
import { LargeOperations } from './large-operations.ts';

const newOperations = () => new LargeOperations(new Pace(), () => {});
const callerOf = (uuid: string): StudioCaller => ({
  user: { uuid, email: `${uuid}@example.org`, name: uuid, created: 0 },
  actor: { kind: 'token' },
});
const memberOf = (account: string, uuid: string): StudioCaller => ({
  ...callerOf(account),
  actor: { kind: 'member', uuid, name: uuid, role: 'moderator' },
});

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('[L-19] large operations of an account run one at a time, and accounts take turns', async () => {
  const operations = newOperations();
  const order: string[] = [];
  const running = new Set<string>();
  const run = (account: string) =>
    operations.run(callerOf(account), async (step) => {
      expect(running.has(account)).toBe(false);
      running.add(account);
      await step(nextTurn);
      order.push(account);
      running.delete(account);
    });
  await Promise.all(['many', 'many', 'many', 'many', 'few'].map(run));
  expect(order).toEqual(['many', 'few', 'many', 'many', 'many']);
});

test('[L-19] an operation of one step does not wait for the 40 steps of one of another account', async () => {
  const operations = newOperations();
  let steps = 0;
  let running = 0;
  const work = async () => {
    expect(++running).toBe(1);
    await nextTurn();
    running--;
  };
  const long = operations.run(callerOf('long'), async (step) => {
    for (; steps < 40; steps++) await step(work);
  });
  await operations.run(callerOf('short'), (step) => step(work));
  expect(steps).toBeLessThan(5);
  await long;
});

test('[L-19] four operations are in progress at most, and accounts take turns with them', async () => {
  const operations = newOperations();
  const order: string[] = [];
  let inProgress = 0;
  let inProgressMax = 0;
  const run = (account: string) =>
    operations.run(callerOf(account), async (step) => {
      order.push(account);
      inProgressMax = Math.max(inProgressMax, ++inProgress);
      await step(nextTurn);
      await step(nextTurn);
      inProgress--;
    });
  await Promise.all(['a', 'a', 'a', 'b', 'b', 'c', 'd', 'e'].map(run));
  expect(inProgressMax).toBe(LARGE_OPERATIONS_ACTIVE_MAX);
  expect(order).toEqual(['a', 'b', 'c', 'd', 'e', 'a', 'b', 'a']);
});

test('[L-19] more operations of an account than may wait are refused, and those of others are not', async () => {
  const operations = newOperations();
  const { promise, resolve } = Promise.withResolvers<string>();
  const run = (account: string) => operations.run(callerOf(account), () => promise);
  const waiting = Array.from({ length: LARGE_OPERATIONS_OF_PROGRAMS_MAX }, () => run('many'));
  expect(await run('many').catch((error) => error)).toBeInstanceOf(RateLimited);
  const other = run('few');
  resolve('done');
  expect(new Set(await Promise.all([...waiting, other]))).toEqual(new Set(['done']));
  expect(await run('many')).toBe('done');
});

/** Operations of members of one account, none of which ends before `resolve`. */
function unfinishedOperations() {
  const operations = newOperations();
  const { promise, resolve } = Promise.withResolvers<string>();
  const run = (member: string) =>
    operations.run(memberOf('account', member), () => promise).catch((error) => error);
  return { run, resolve };
}

test('[L-19] a member takes 32 of the places of its account', async () => {
  const { run, resolve } = unfinishedOperations();
  const waiting = Array.from({ length: LARGE_OPERATIONS_OF_MEMBER_MAX }, () => run('moderator'));
  expect(await run('moderator')).toBeInstanceOf(RateLimited);
  const owner = run('owner');
  resolve('done');
  expect(new Set(await Promise.all([...waiting, owner]))).toEqual(new Set(['done']));
  expect(await run('moderator')).toBe('done');
});

test('[L-19] more operations of all members of an account than may wait are refused', async () => {
  const { run, resolve } = unfinishedOperations();
  const waiting = ['a', 'b', 'c', 'd'].flatMap((member) =>
    Array.from({ length: LARGE_OPERATIONS_OF_MEMBER_MAX }, () => run(member)),
  );
  expect(waiting).toHaveLength(LARGE_OPERATIONS_MAX);
  expect(await run('e')).toBeInstanceOf(RateLimited);
  resolve('done');
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['done']));
});

test('[L-19] members of an account take turns, with its programs as one of them', async () => {
  const operations = newOperations();
  const order: string[] = [];
  const run = (caller: string) =>
    operations.run(
      caller === 'program' ? callerOf('account') : memberOf('account', caller),
      async (step) => {
        await step(() => Promise.resolve());
        order.push(caller);
      },
    );
  await Promise.all(['program', 'program', 'moderator', 'moderator', 'owner'].map(run));
  expect(order).toEqual(['program', 'moderator', 'owner', 'program', 'moderator']);
});

test('[L-19] [R-15] when the database cannot take an operation, those that wait fail with it', async () => {
  const operations = newOperations();
  const failure = Promise.withResolvers<never>();
  const callers = [callerOf('first'), memberOf('second', 'host'), memberOf('second', 'host')];
  const errors = callers.map((caller) =>
    operations.run(caller, () => failure.promise).catch((error) => error),
  );
  const unavailable = new Unavailable('The database is stalled.');
  failure.reject(unavailable);
  expect(await Promise.all(errors)).toEqual(Array(3).fill(unavailable));
  expect(await operations.run(callerOf('first'), async () => 'later')).toBe('later');
});

test('[L-19] [R-15] when the database cannot take a step, the steps of other accounts fail with it', async () => {
  const operations = newOperations();
  const failure = Promise.withResolvers<never>();
  let stepsBegun = 0;
  const callers = ['first', 'second', 'third', 'second', 'fourth', 'fifth'].map(callerOf);
  const errors = callers.map((caller) =>
    operations
      .run(caller, (step) =>
        step(() => {
          stepsBegun++;
          return failure.promise;
        }),
      )
      .catch((error) => error),
  );
  await nextTurn();
  const unavailable = new Unavailable('The database is stalled.');
  failure.reject(unavailable);
  expect(await Promise.all(errors)).toEqual(Array(6).fill(unavailable));
  expect(stepsBegun).toBe(1);
  // None counts any more.
  const again = Array.from({ length: LARGE_OPERATIONS_OF_PROGRAMS_MAX }, () =>
    operations.run(callerOf('second'), (step) => step(async () => 'later')),
  );
  expect(new Set(await Promise.all(again))).toEqual(new Set(['later']));
});

test('[L-19] an operation whose data change all the time fails alone', async () => {
  const operations = newOperations();
  const failure = Promise.withResolvers<never>();
  const failed = operations.run(callerOf('first'), () => failure.promise).catch((error) => error);
  const others = [callerOf('first'), callerOf('second')].map((caller) =>
    operations.run(caller, async () => 'done'),
  );
  const changed = new ChangedMeanwhile('The rundown changes all the time.');
  failure.reject(changed);
  expect(await failed).toBe(changed);
  expect(await Promise.all(others)).toEqual(['done', 'done']);
});
