import { expect, test } from 'bun:test';
import { bytesOf, FakeReader } from '../../../test/support/media/packager-fixture.ts';
import { SourceFeed, UNIT_OVERHEAD_BYTES } from './source-feed.ts';

/** An encoder that takes everything. */
function taker() {
  const all = { text: '', wantsMore: true };
  const write = (bytes: Uint8Array) => {
    all.text += new TextDecoder().decode(bytes);
    return all.wantsMore;
  };
  return { all, write };
}

function newFeed() {
  const reader = new FakeReader();
  const feed = new SourceFeed(() => reader.header());
  const push = (text: string) => reader.push(bytesOf(text)).map((unit) => feed.push(unit));
  return { feed, push };
}

test('before there is an encoder all is held, and the first one gets it in order', () => {
  const { feed, push } = newFeed();
  expect(push('H;P1;J2;P3;')).toEqual([true, true, true, true]);
  expect(feed.bufferedBytes()).toBe(11 + 4 * UNIT_OVERHEAD_BYTES);
  const first = taker();
  feed.startWithBuffered(first);
  expect(feed.bufferedBytes()).toBe(0);
  push('P4;');
  expect(first.all.text).toBe('H;P1;J2;P3;P4;');
});

test('[M-40] an encoder that begins in the middle gets the headers, and all from a join on', () => {
  const { feed, push } = newFeed();
  const [first, second] = [taker(), taker()];
  feed.startWithBuffered(first);
  push('H;J1;P2;');
  feed.discard();
  push('P3;J4;P5;');
  feed.startAtNextJoin(second);
  push('P6;P7;');
  expect(second.all.text).toBe('');
  push('J8;P9;');
  expect(second.all.text).toBe('H;J8;P9;');
  expect(first.all.text).toBe('H;J1;P2;');
});

test('the headers are the newest, also those that came while nobody took them', () => {
  const { feed, push } = newFeed();
  feed.startWithBuffered(taker());
  push('H1;J2;');
  feed.discard();
  push('H3;');
  const second = taker();
  feed.startAtNextJoin(second);
  push('P4;J5;');
  expect(second.all.text).toBe('H3;J5;');
});

test('nothing is held while an encoder is unavailable', () => {
  const { feed, push } = newFeed();
  feed.startWithBuffered(taker());
  feed.discard();
  push('J1;P2;P3;');
  expect(feed.bufferedBytes()).toBe(0);
});

test('it says when the encoder wants no more', () => {
  const { feed, push } = newFeed();
  const first = taker();
  feed.startWithBuffered(first);
  first.all.wantsMore = false;
  expect(push('J1;')).toEqual([false]);
  const second = taker();
  feed.startAtNextJoin(second);
  second.all.wantsMore = false;
  // What it is not given cannot be too much.
  expect(push('P2;J3;')).toEqual([true, false]);
});
