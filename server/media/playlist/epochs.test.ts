import { expect, test } from 'bun:test';
import { TRACKS } from '../../../test/support/media/fragment-fixture.ts';
import type { Epoch, Segment } from '../segment.ts';
import { epochsOf, epochWith, hasTrack } from './epochs.ts';

const epoch = (number: number, tracks = TRACKS): Epoch => ({
  ...{ number, startMs: number * 1_000, tracks, inits: new Map() },
});
const segment = (epoch: number): Segment => ({
  ...{ seq: 0, epoch, startMs: 0, durationMs: 1_000, pieces: new Map() },
});

test('an epoch is found by its number, also when numbers are missing', () => {
  const epochs = [2, 3, 5].map((number) => epoch(number));
  expect([1, 2, 3, 4, 5, 6].map((number) => epochWith(epochs, number)?.number)).toEqual([
    ...[undefined, 2, 3, undefined, 5, undefined],
  ]);
});

test('the epochs of segments begin with that of the first', () => {
  const epochs = [2, 3, 5].map((number) => epoch(number));
  const numbers = (...segments: Segment[]) => epochsOf(epochs, segments).map((one) => one.number);
  expect(numbers(segment(3), segment(5))).toEqual([3, 5]);
  expect(epochsOf(epochs, [segment(2)])).toBe(epochs);
  expect(epochsOf(epochs, [])).toBe(epochs);
});

test('[M-31] a track exists while an epoch has it, also when epochs are added and removed', () => {
  const [video, ...others] = TRACKS;
  const epochs = [epoch(0, TRACKS.slice(0, 1)), epoch(1, others)];
  const [id = '', other = ''] = [video?.id, others[0]?.id];
  expect([id, other, 'v99'].map((each) => hasTrack(epochs, each))).toEqual([true, true, false]);
  epochs.shift();
  expect(hasTrack(epochs, id)).toBe(false);
  epochs.push(epoch(2, TRACKS), epoch(3, others));
  expect(hasTrack(epochs, id)).toBe(true);
});
