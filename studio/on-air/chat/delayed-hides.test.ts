import { beforeEach, expect, test } from 'bun:test';
import { DelayedHides, UNDO_MS } from './delayed-hides.ts';

let nowMs: number;
let timers: { readonly atMs: number; readonly callback: () => void }[];
let sent: string[];
let sentAtClose: (readonly string[])[];
let hides: DelayedHides;

beforeEach(() => {
  nowMs = 0;
  timers = [];
  sent = [];
  sentAtClose = [];
  hides = new DelayedHides({
    send: (id) => sent.push(id),
    sendAtClose: (ids) => sentAtClose.push(ids),
    after: (ms, callback) => {
      const timer = { atMs: nowMs + ms, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    monotonicMs: () => nowMs,
  });
});

function pass(ms: number): void {
  nowMs += ms;
  const due = timers.filter(({ atMs }) => atMs <= nowMs);
  timers = timers.filter(({ atMs }) => atMs > nowMs);
  for (const { callback } of due) callback();
}

test('[B-15] a message is hidden once, when the time to undo it is over', () => {
  hides.hide('a');
  hides.hide('a');
  expect(hides.snapshot).toEqual(new Set(['a']));
  pass(UNDO_MS - 1);
  expect(sent).toEqual([]);
  pass(1);
  expect(sent).toEqual(['a']);
  expect(hides.snapshot).toEqual(new Set());
});

test('[B-15] an undone message is never sent, and can be hidden later', () => {
  hides.hide('a');
  hides.hide('b');
  pass(1_000);
  hides.undo('a');
  expect(hides.snapshot).toEqual(new Set(['b']));
  pass(UNDO_MS);
  expect(sent).toEqual(['b']);
  hides.hide('a');
  pass(UNDO_MS);
  expect(sent).toEqual(['b', 'a']);
});

test('[B-7] the second press of a double click undoes nothing', () => {
  hides.hide('a');
  pass(300);
  hides.undo('a');
  pass(UNDO_MS);
  expect(sent).toEqual(['a']);
});

test('[B-15] a page that closes sends what it delayed, with one request', () => {
  hides.hide('a');
  hides.hide('b');
  hides.flush();
  hides.flush();
  expect(hides.snapshot).toEqual(new Set());
  pass(UNDO_MS);
  expect([sentAtClose, sent]).toEqual([[['a', 'b']], []]);
});
