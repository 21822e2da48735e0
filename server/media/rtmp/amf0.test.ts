import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type AmfValue, readAmf, writeAmf } from './amf0.ts';
import { RtmpError } from './rtmp-message.ts';

const text = fc.string({ unit: 'grapheme' });
const leaf = fc.oneof(
  fc.double(),
  fc.boolean(),
  text,
  fc.constantFrom(null, undefined, 'x'.repeat(70_000)),
  fc.date({ noInvalidDate: true }),
);
const { value } = fc.letrec<{ value: AmfValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: false }),
  ),
}));

test('what is written is read again', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), (values) => {
      expect(readAmf(writeAmf(values))).toEqual(values);
    }),
  );
});

test('what encoders send besides: arrays with a count that is a hint, typed objects, XML', () => {
  const array = Buffer.from('\x08\0\0\0\x09\0\x01a\x01\x01\0\0\x09', 'latin1');
  const typed = Buffer.from('\x10\0\x01T\0\x01b\x05\0\0\x09', 'latin1');
  const rest = Buffer.from('\x0f\0\0\0\x02<>\x0d', 'latin1');
  const read = readAmf(Buffer.concat([array, typed, rest]));
  expect(read).toEqual([{ a: true }, { b: null }, '<>', undefined]);
});

test('a member can have any name', () => {
  const bytes = Buffer.from('\x03\0\x09__proto__\x05\0\0\x09', 'latin1');
  const [object] = readAmf(bytes);
  expect(Object.keys(object ?? {})).toEqual(['__proto__']);
});

describe('[M-16] what is refused', () => {
  test.each([
    ['cut off', '\x00\x01', 'AMF: cut off'],
    ['an object without an end', '\x03\0\x01a\x05', 'AMF: cut off'],
    ['a type that nobody sends', '\x11', 'AMF: type 17'],
    ['a reference', '\x07\0\0', 'AMF: type 7'],
    ['an array that promises too much', '\x0a\xff\xff\xff\xff', 'AMF: too much'],
    ['too deep', '\x03\0\x01a'.repeat(20), 'AMF: too much'],
    ['too many', '\x05'.repeat(2_000), 'AMF: too much'],
  ])('%s', (_, bytes, line) => {
    expect(() => readAmf(Buffer.from(bytes, 'latin1'))).toThrow(line);
  });

  test('is never another failure', () => {
    const start = fc.constantFrom('\x03\0\x01a', '\x08\0\0\0\0', '\x0a\0\0\0\x05', '');
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 80 }), (first, bytes) => {
        try {
          readAmf(Buffer.concat([Buffer.from(first, 'latin1'), bytes]));
        } catch (error) {
          expect(error).toBeInstanceOf(RtmpError);
        }
      }),
    );
  });
});
