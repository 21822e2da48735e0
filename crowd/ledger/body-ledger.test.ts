import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { BodyLedger } from './body-ledger.ts';

const bytesOf = (interval: number, text = '') =>
  new TextEncoder().encode(
    JSON.stringify({ interval, events: text === '' ? [] : [{ type: 'greeting', data: { text } }] }),
  );

test('[I-1] BodyLedger accepts the same bytes from every viewer', () => {
  const bodies = new BodyLedger();
  const first = bodies.read(7, bytesOf(7, 'hello'));
  expect(first).toMatchObject({ isFirstRead: true, mismatch: null });
  const again = bodies.read(7, bytesOf(7, 'hello'));
  expect(again).toMatchObject({ isFirstRead: false, mismatch: null });
  expect(again.interval).toBe(first.interval);
});

test('[I-1] BodyLedger reports any different byte with both bodies', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, other) => {
      const bodies = new BodyLedger();
      bodies.read(7, bytesOf(7, one));
      const { mismatch } = bodies.read(7, bytesOf(7, other));
      expect(mismatch === null).toBe(one === other);
    }),
  );
  const bodies = new BodyLedger();
  bodies.read(7, bytesOf(7, 'hello'));
  const { mismatch } = bodies.read(7, bytesOf(7, 'hallo'));
  expect(mismatch).toContain('hello');
  expect(mismatch).toContain('hallo');
});

test('[F-1] BodyLedger reports a body of another interval, and one that is not JSON', () => {
  expect(new BodyLedger().read(7, bytesOf(8)).mismatch).toContain('requested 7');
  const noJson = new TextEncoder().encode('{"interval":7');
  expect(new BodyLedger().read(7, noJson)).toMatchObject({
    interval: { events: [] },
    mismatch: expect.stringContaining('requested 7'),
  });
});

test('BodyLedger copies bodies, so that their read buffer can be reused', () => {
  const bodies = new BodyLedger();
  const buffer = bytesOf(7, 'hello');
  bodies.read(7, buffer);
  buffer.fill(0);
  expect(bodies.read(7, bytesOf(7, 'hello')).mismatch).toBeNull();
});

test('BodyLedger stores the bodies of one minute (240 intervals)', () => {
  const bodies = new BodyLedger();
  for (let interval = 1; interval <= 5_000; interval++) bodies.read(interval, bytesOf(interval));
  expect(bodies.size()).toBe(240);
  expect(bodies.read(4_900, bytesOf(4_900, 'x')).mismatch).not.toBeNull();
});
