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
const memberName = text.filter((name) => !/^\d/.test(name));

const { value } = fc.letrec<{ value: AmfValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(memberName, tie('value'), { maxKeys: 4, noNullPrototype: false }),
  ),
}));

test('AMF0 values survive a write and a read', () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 4 }), (values) => {
      expect(readAmf(writeAmf(values))).toEqual(values);
    }),
  );
});

test('ECMA arrays, typed objects, XML and the marker for unsupported values are read', () => {
  const array = Buffer.from('\x08\0\0\0\x09\0\x01a\x01\x01\0\0\x09', 'latin1');
  const typed = Buffer.from('\x10\0\x01T\0\x01b\x05\0\0\x09', 'latin1');
  const xmlAndUnsupported = Buffer.from('\x0f\0\0\0\x02<>\x0d', 'latin1');
  const read = readAmf(Buffer.concat([array, typed, xmlAndUnsupported]));
  expect(read).toEqual([{ a: true }, { b: null }, '<>', undefined]);
});

test('a member may be named __proto__', () => {
  const bytes = Buffer.from('\x03\0\x09__proto__\x05\0\0\x09', 'latin1');
  const [object] = readAmf(bytes);
  expect(Object.keys(object ?? {})).toEqual(['__proto__']);
});

describe('[M-16] the AMF reader rejects', () => {
  test.each([
    ['truncated input', '\x00\x01', 'AMF: truncated'],
    ['an object without an end marker', '\x03\0\x01a\x05', 'AMF: truncated'],
    ['an unknown type', '\x11', 'AMF: unsupported type 17'],
    ['a reference', '\x07\0\0', 'AMF: unsupported type 7'],
    ['an array with an excessive length', '\x0a\xff\xff\xff\xff', 'AMF: too many values'],
    ['deep nesting', '\x03\0\x01a'.repeat(20), 'AMF: too many values'],
    ['too many values', '\x05'.repeat(2_000), 'AMF: too many values'],
  ])('the AMF reader rejects %s', (_, bytes, errorText) => {
    expect(() => readAmf(Buffer.from(bytes, 'latin1'))).toThrow(errorText);
  });

  test('the AMF reader throws no error but RtmpError, for any bytes', () => {
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

test('[M-16] members whose names are numbers are left out', () => {
  expect(readAmf(writeAmf([{ 999: 1, app: 'live' }]))).toEqual([{ app: 'live' }]);
});
