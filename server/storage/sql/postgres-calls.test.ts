import { describe, expect, test } from 'bun:test';
import { Unavailable } from '../../platform/errors.ts';
import { runtime } from '../../platform/runtime.ts';
import { Call, CallQueue } from './postgres-calls.ts';
import { type Procedures, readProcedure, writeProcedure } from './procedure.ts';

const procedure = readProcedure(async () => null);
const urgent = writeProcedure(async () => null, { noDeadline: true });

const ignore = () => {};

function callOf(name: string, onError: (error: unknown) => void = ignore): Call {
  return new Call(name, procedure, null, null, ignore, onError);
}

/** Takes calls one after the other, as one free connection does. */
function takeNames(queue: CallQueue, count: number): (string | undefined)[] {
  return Array.from({ length: count }, () => {
    const call = queue.next();
    if (call) queue.release(call);
    return call?.name;
  });
}

test('[R-15] many calls of one procedure do not delay those of others', () => {
  const queue = new CallQueue(2);
  for (let n = 0; n < 1_000; n++) queue.add(callOf('readStream'));
  for (const name of ['recordAnswers', 'recordAnswers', 'findSession']) queue.add(callOf(name));
  expect(takeNames(queue, 6)).toEqual([
    ...['readStream', 'recordAnswers', 'findSession'],
    ...['readStream', 'recordAnswers', 'readStream'],
  ]);
  expect(queue.size()).toBe(997);
});

test('calls of one procedure run in order of arrival, after urgent ones', () => {
  const queue = new CallQueue(2);
  const [first, second] = [callOf('readStream'), callOf('readStream')];
  queue.add(first);
  queue.add(second);
  queue.add(new Call('seal', urgent, null, null, ignore, ignore));
  expect(queue.next()?.name).toBe('seal');
  expect(queue.next()).toBe(first);
  queue.requeue(first);
  expect(queue.next()).toBe(first);
  queue.release(first);
  expect(queue.next()).toBe(second);
});

test('[R-15] waiting calls of all procedures are rejected at their deadline', () => {
  const queue = new CallQueue(2);
  const rejected: string[] = [];
  for (const name of ['readStream', 'recordAnswers', 'readStream']) {
    queue.add(callOf(name, () => rejected.push(name)));
  }
  queue.expire(runtime.monotonicMs());
  expect(rejected).toEqual([]);
  queue.expire(runtime.monotonicMs() + 1_000);
  expect(rejected.toSorted()).toEqual(['readStream', 'readStream', 'recordAnswers']);
  expect(queue.size()).toBe(0);
  expect(queue.next()).toBeUndefined();
});

test('calls of all procedures but exports are rejected when the server is unavailable', () => {
  const queue = new CallQueue(2);
  const rejected: string[] = [];
  const add = (name: string, called: Procedures[string]) =>
    queue.add(new Call(name, called, null, null, ignore, () => rejected.push(name)));
  add('seal', urgent);
  queue.next();
  add('seal again', urgent);
  add('readStream', procedure);
  add(
    'exportAnswers',
    readProcedure(async () => null, { noDeadline: true }),
  );
  queue.rejectPending(() => new Unavailable('unavailable'));
  expect(rejected.toSorted()).toEqual(['readStream', 'seal', 'seal again']);
  expect(queue.next()?.name).toBe('exportAnswers');
});

describe('[R-15] writes of an account', () => {
  const write = writeProcedure(async () => null);
  const writeOf = (producer: string, name = 'publishQuiz') =>
    new Call(name, write, { producer, streamId: 's' }, null, ignore, ignore);

  test('use two connections at most, so that those that wait for its stream leave room', () => {
    const queue = new CallQueue(10);
    const names = ['publishQuiz', 'hideMessage', 'muteViewer', 'patchStream'];
    for (const name of names) queue.add(writeOf('one', name));
    queue.add(writeOf('two'));
    queue.add(callOf('recordAnswers'));
    const running: Call[] = [];
    for (let call = queue.next(); call; call = queue.next()) running.push(call);
    expect(running.map(({ account }) => account).toSorted()).toEqual(
      [null, 'one', 'one', 'two'].toSorted(),
    );
    const done = running.find(({ account }) => account === 'one') as Call;
    queue.release(done);
    expect(queue.next()?.name).toBe('muteViewer');
    expect(queue.next()).toBeUndefined();
  });

  test('do not wait for those whose deadline has passed', () => {
    const queue = new CallQueue(10);
    for (let n = 0; n < 2; n++) queue.add(writeOf('one'));
    for (let n = 0; n < 2; n++) queue.next();
    queue.expire(runtime.monotonicMs() + 1_000);
    queue.add(writeOf('one', 'muteViewer'));
    expect(queue.next()?.name).toBe('muteViewer');
  });

  test('take turns by procedure: a program that sells does not delay the buttons of the host', () => {
    const queue = new CallQueue(10);
    for (let n = 0; n < 100; n++) queue.add(writeOf('one', 'recordProducerEvent'));
    queue.add(writeOf('one', 'publishQuiz'));
    expect(takeNames(queue, 3)).toContain('publishQuiz');
  });

  test('take turns by account, however many buttons of one host wait', () => {
    const queue = new CallQueue(2);
    for (let n = 0; n < 30; n++) queue.add(writeOf('one', `procedure ${n}`));
    queue.add(writeOf('two', 'publishQuiz'));
    expect(takeNames(queue, 3)).toContain('publishQuiz');
    expect(takeNames(queue, 40).filter((name) => name !== undefined)).toHaveLength(28);
    expect(queue.size()).toBe(0);
  });

  test('that miss their deadline leave the queue', () => {
    const queue = new CallQueue(2);
    for (let n = 0; n < 3; n++) queue.add(writeOf('one', `procedure ${n}`));
    queue.add(writeOf('two'));
    queue.expire(runtime.monotonicMs() + 1_000);
    expect([queue.size(), queue.next()]).toEqual([0, undefined]);
    queue.add(writeOf('one'));
    expect(queue.next()?.account).toBe('one');
  });

  test('take turns with other calls, however many accounts write', () => {
    const queue = new CallQueue(2);
    for (let n = 0; n < 100; n++) queue.add(writeOf(`account ${n}`));
    for (let n = 0; n < 3; n++) queue.add(callOf('recordAnswers'));
    const taken = takeNames(queue, 6);
    expect(taken.filter((name) => name === 'recordAnswers')).toHaveLength(3);
  });
});
