import { expect, test } from 'bun:test';
import { keepingIterators } from '../../../test/support/kept-iterators.ts';
import type { Segment } from '../segment.ts';
import { SegmentBuffer } from './segment-buffer.ts';

function add(buffer: SegmentBuffer, seq: number): Segment {
  const segment = { seq } as Segment;
  buffer.add(segment, new Map([['audio', new Uint8Array(10)]]));
  return segment;
}

test('the buffer has the segments that were not removed', () => {
  const buffer = new SegmentBuffer();
  for (const seq of [3, 4, 6, 7]) add(buffer, seq);
  buffer.remove(4);
  expect(buffer.firstAfter(3)?.segment.seq).toBe(6);
  buffer.removeThrough(6);
  expect([buffer.size, buffer.byteLength]).toEqual([1, 10]);
  expect(buffer.read(7, 'audio')?.byteLength).toBe(10);
  expect(buffer.read(6, 'audio')).toBeNull();
  expect(buffer.firstAfter(7)).toBeNull();
});

test('the buffer keeps no segment that was removed, even if every iterator is kept', async () => {
  const buffer = new SegmentBuffer();
  await keepingIterators(async () => {
    const segments: WeakRef<Segment>[] = [];
    for (let seq = 0; seq < 1_000; seq++) {
      segments.push(new WeakRef(add(buffer, seq)));
      buffer.firstAfter(seq - 10);
      buffer.removeThrough(seq - 10);
    }
    await Bun.sleep(0);
    Bun.gc(true);
    expect(segments.filter((segment) => segment.deref() !== undefined).length).toBeLessThan(100);
  });
});
