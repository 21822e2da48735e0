import { expect, test } from 'bun:test';
import { SkippedEvents } from './skipped-events.ts';

const hiding = (id: number) => ({ type: 'chat-hidden', data: { ids: [`${id}`] } });
const hidden = (interval: number, id = interval) => ({ interval, events: [hiding(id)] });
const empty = (interval: number) => ({ interval, events: [] });

test('an interval is shown after the changes that were skipped before it, in order', () => {
  const skipped = new SkippedEvents();
  const quiz = { type: 'quiz', data: {} };
  for (const interval of [9, 11, 10, 30]) skipped.add(hidden(interval));
  skipped.add({ interval: 12, events: [quiz, hiding(12), quiz] });
  expect(skipped.addTo({ interval: 20, events: [quiz] })).toEqual({
    interval: 20,
    events: [hiding(9), hiding(10), hiding(11), hiding(12), quiz],
  });
  expect(skipped.addTo(empty(21))).toEqual(empty(21));
});

test('changes of intervals that were shown, or are older, are not added', () => {
  const skipped = new SkippedEvents();
  skipped.add(hidden(5));
  expect(skipped.addTo(hidden(5))).toEqual(hidden(5));
  // After a jump back they arrive again; then playback jumps ahead.
  skipped.add(hidden(3));
  skipped.add(hidden(5));
  expect(skipped.addTo(hidden(3))).toEqual(hidden(3));
  expect(skipped.addTo(empty(9))).toEqual(empty(9));
});

test('the newest 1,000 intervals with changes are kept', () => {
  const skipped = new SkippedEvents();
  for (let interval = 1; interval <= 1_001; interval++) skipped.add(hidden(interval));
  const { events } = skipped.addTo(empty(2_000));
  expect(events).toHaveLength(1_000);
  expect(events[0]).toEqual(hiding(2));
});
