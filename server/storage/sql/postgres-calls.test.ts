import { expect, test } from 'bun:test';
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
