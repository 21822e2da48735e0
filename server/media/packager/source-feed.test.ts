import { expect, test } from 'bun:test';
import { bytesOf, FakeReader } from '../../../test/support/media/packager-fixture.ts';
import { SourceFeed, UNIT_OVERHEAD_BYTES } from './source-feed.ts';

/** A sink that records its input. */
function createSink() {
  const state = { text: '', acceptsMore: true };
  const write = (bytes: Uint8Array) => {
    state.text += new TextDecoder().decode(bytes);
    return state.acceptsMore;
  };
  return { state, write };
}

function createFeed() {
  const reader = new FakeReader();
  const feed = new SourceFeed(() => reader.header());
  const push = (text: string) => reader.push(bytesOf(text)).map((unit) => feed.push(unit));
  return { feed, push };
}

test('units are buffered until the first sink, which gets them in order', () => {
  const { feed, push } = createFeed();
  expect(push('H;P1;J2;P3;')).toEqual([true, true, true, true]);
  expect(feed.bufferedBytes()).toBe(11 + 4 * UNIT_OVERHEAD_BYTES);
  const first = createSink();
  feed.startWithBuffered(first);
  expect(feed.bufferedBytes()).toBe(0);
  push('P4;');
  expect(first.state.text).toBe('H;P1;J2;P3;P4;');
});

test('[M-40] a sink that starts mid-stream gets the headers and units from an entry point on', () => {
  const { feed, push } = createFeed();
  const [first, second] = [createSink(), createSink()];
  feed.startWithBuffered(first);
  push('H;J1;P2;');
  feed.discard();
  push('P3;J4;P5;');
  feed.startAtNextEntryPoint(second);
  push('P6;P7;');
  expect(second.state.text).toBe('');
  push('J8;P9;');
  expect(second.state.text).toBe('H;J8;P9;');
  expect(first.state.text).toBe('H;J1;P2;');
});

test('a sink gets the newest headers, also those sent while there was no sink', () => {
  const { feed, push } = createFeed();
  feed.startWithBuffered(createSink());
  push('H1;J2;');
  feed.discard();
  push('H3;');
  const second = createSink();
  feed.startAtNextEntryPoint(second);
  push('P4;J5;');
  expect(second.state.text).toBe('H3;J5;');
});

test('units are dropped between two sinks', () => {
  const { feed, push } = createFeed();
  feed.startWithBuffered(createSink());
  feed.discard();
  push('J1;P2;P3;');
  expect(feed.bufferedBytes()).toBe(0);
});

test('push returns the back pressure of the sink', () => {
  const { feed, push } = createFeed();
  const first = createSink();
  feed.startWithBuffered(first);
  first.state.acceptsMore = false;
  expect(push('J1;')).toEqual([false]);
  const second = createSink();
  feed.startAtNextEntryPoint(second);
  second.state.acceptsMore = false;
  // A dropped unit causes no back pressure.
  expect(push('P2;J3;')).toEqual([true, false]);
});
