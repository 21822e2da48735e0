import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChunkedFraming } from './chunked-framing.ts';

const chunk = fc
  .tuple(
    fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 }),
    fc.constantFrom('', ';a', ';a="b c"', ';'),
  )
  .map(([data, extension]) => `${data.length.toString(16)}${extension}\r\n${data}\r\n`);
const body = fc
  .tuple(
    fc.array(chunk, { maxLength: 5 }),
    fc.constantFrom('0', '00', '0;x'),
    fc.constantFrom('', 'X: y\r\n', 'A:\r\nB: \t\r\n'),
  )
  .map(([chunks, zero, trailers]) => `${chunks.join('')}${zero}\r\n${trailers}\r\n`);

test('ChunkedFraming finds the end of a body, however it is split and whatever follows', () => {
  fc.assert(
    fc.property(
      body,
      fc.string({ unit: 'binary-ascii' }),
      fc.integer({ min: 1, max: 30 }),
      (text, following, pieceBytes) => {
        const bytes = Buffer.from(text + following, 'latin1');
        const framing = new ChunkedFraming();
        let takenBytes = 0;
        while (!framing.isComplete && takenBytes < bytes.length) {
          const piece = bytes.subarray(takenBytes, takenBytes + pieceBytes);
          takenBytes += framing.take(piece, 0);
        }
        expect([framing.isComplete, framing.isInvalid]).toEqual([true, false]);
        expect(takenBytes).toBe(text.length);
      },
    ),
    { numRuns: 500 },
  );
});

test('ChunkedFraming reports an incomplete body as neither complete nor invalid', () => {
  fc.assert(
    fc.property(body, fc.nat(), (text, cut) => {
      const framing = new ChunkedFraming();
      framing.take(Buffer.from(text, 'latin1').subarray(0, cut % text.length), 0);
      expect([framing.isComplete, framing.isInvalid]).toEqual([false, false]);
    }),
  );
});

test.each([
  ['no size', '\r\n\r\n'],
  ['a size that is not hexadecimal', 'g\r\n'],
  ['a size with a sign', '+1\r\na\r\n'],
  ['a size with 0x', '0x1\r\na\r\n'],
  ['a space before the size', ' 1\r\na\r\n'],
  ['a space after the size', '1 \r\na\r\n'],
  ['a size of 14 digits', '10000000000000\r\n'],
  ['a size that ends with LF', '1\na\r\n'],
  ['a size that ends with CR', '1\ra'],
  ['an extension that ends with LF', '1;x\na\r\n'],
  ['an extension with NUL', '1;\0\r\na\r\n'],
  ['an extension above 16 KB', `1;${'x'.repeat(20_000)}`],
  ['more data than its size', '1\r\nab\r\n'],
  ['data that ends with LF', '1\r\na\n'],
  ['data that ends with CR', '1\r\na\rb'],
  ['a folded trailer', '0\r\nX: y\r\n z\r\n\r\n'],
  ['a trailer that ends with LF', '0\r\nX: y\n\r\n'],
  ['trailers above 16 KB', `0\r\n${'X: y\r\n'.repeat(5_000)}`],
  ['a last line that ends with LF', '0\r\n\n'],
])(
  'ChunkedFraming reports a body with %s as invalid, and takes all bytes, later ones too',
  (_, text) => {
    const framing = new ChunkedFraming();
    const bytes = Buffer.from(text, 'latin1');
    expect(framing.take(bytes, 0)).toBe(bytes.length);
    expect([framing.isComplete, framing.isInvalid]).toEqual([false, true]);
    expect(framing.take(Buffer.from('0\r\n\r\n'), 0)).toBe(5);
    expect(framing.isComplete).toBe(false);
  },
);
