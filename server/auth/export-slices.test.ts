import { expect, test } from 'bun:test';
import { RateLimited } from '../platform/errors.ts';
import { Pace } from '../platform/pace.ts';
import type { StudioCaller } from './credentials.ts';
import { EXPORTS_MAX, ExportSlices } from './export-slices.ts';

const newSlices = () => new ExportSlices(new Pace());
const newRequest = (options: RequestInit = {}) => new Request('http://localhost/', options);

const memberOf = (account: string, member: string): StudioCaller => ({
  user: { uuid: account, email: `${account}@example.org`, name: account, created: 0 },
  actor: { kind: 'member', uuid: member, name: member, role: 'host' },
});
let members = 0;
/** Another member of an account. */
const callerOf = (account: string) => memberOf(account, `member ${++members}`);

function* textsOf(name: string, count: number, order: string[]) {
  for (let n = 1; n <= count; n++) {
    order.push(name);
    yield `${name}${n}`;
  }
}

test('[L-20] slices of exports are made one at a time, and accounts take turns', async () => {
  const exports = newSlices();
  const order: string[] = [];
  const read = async (account: string, name: string) =>
    (
      await Array.fromAsync(exports.open(callerOf(account), newRequest(), textsOf(name, 3, order)))
    ).join(' ');
  const many = ['a', 'b', 'd', 'e'].map((name) => read('many', name));
  expect(await read('few', 'c')).toBe('c1 c2 c3');
  // In the order of their requests the third slice would be the last of 15.
  expect(order.lastIndexOf('c')).toBeLessThan(12);
  expect(await Promise.all(many)).toEqual(['a1 a2 a3', 'b1 b2 b3', 'd1 d2 d3', 'e1 e2 e3']);
});

test('[L-20] more exports of an account at once are refused until one is read, cancelled or broken off', async () => {
  const exports = newSlices();
  const left = new AbortController();
  const open = (account: string, options?: RequestInit) =>
    exports.open(callerOf(account), newRequest(options), textsOf('x', 2, []));
  const isFull = () => {
    try {
      open('many');
      return false;
    } catch (error) {
      expect(error).toBeInstanceOf(RateLimited);
      return true;
    }
  };
  const [first, second] = [open('many'), open('many'), open('many')];
  open('many', { signal: left.signal });
  expect(isFull()).toBe(true);
  open('few');
  await Array.fromAsync(first as AsyncGenerator<string>);
  expect(isFull()).toBe(false);
  expect(isFull()).toBe(true);
  await second?.next();
  await second?.return(undefined);
  expect(isFull()).toBe(false);
  expect(isFull()).toBe(true);
  left.abort();
  expect(isFull()).toBe(false);
  expect(isFull()).toBe(true);
  for (let n = 0; n <= EXPORTS_MAX; n++) open('few', { method: 'HEAD' });
});

test('[L-20] no further slice is made for a client that disconnected', async () => {
  const exports = newSlices();
  const order: string[] = [];
  const broken = Array.from({ length: 100 }, () => {
    const left = new AbortController();
    const request = newRequest({ signal: left.signal });
    const texts = exports.open(callerOf('many'), request, textsOf('broken', 3, order));
    const first = texts.next();
    left.abort();
    return first;
  });
  const texts = exports.open(callerOf('few'), newRequest(), textsOf('whole', 3, order));
  expect(await Array.fromAsync(texts)).toHaveLength(3);
  // The slice of the first began before it left.
  const [, ...later] = await Promise.all(broken);
  expect(later.every(({ done }) => done)).toBe(true);
  expect(order).toEqual(['broken', 'whole', 'whole', 'whole']);
});

test('[L-20] a page without text has a turn of its own, and sends nothing', async () => {
  const exports = newSlices();
  const order: string[] = [];
  function* emptyTexts() {
    for (let n = 0; n < 5; n++) {
      order.push('empty');
      yield '';
    }
    yield 'end';
  }
  const empty = Array.fromAsync(exports.open(callerOf('many'), newRequest(), emptyTexts()));
  await Array.fromAsync(exports.open(callerOf('few'), newRequest(), textsOf('few', 1, order)));
  expect(order.indexOf('few')).toBeLessThan(3);
  expect(await empty).toEqual(['end']);
});

test('[L-20] an export that fails breaks off and counts no more', async () => {
  const exports = newSlices();
  async function* failing() {
    yield 'first';
    throw new Error('the table is gone');
  }
  for (let n = 0; n <= EXPORTS_MAX; n++) {
    const texts = exports.open(callerOf('a'), newRequest(), failing());
    expect(await Array.fromAsync(texts).catch((error) => error.message)).toBe('the table is gone');
  }
});

test('[L-20] a member leaves one export to the others of its account', () => {
  const exports = newSlices();
  const open = (member: string) =>
    exports.open(memberOf('account', member), newRequest(), textsOf('x', 1, []));
  for (let n = 1; n < EXPORTS_MAX; n++) open('removed host');
  expect(() => open('removed host')).toThrow(RateLimited);
  open('owner');
  expect(() => open('owner')).toThrow(RateLimited);
});
