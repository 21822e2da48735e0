import { describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { parseJsonObject } from './json.ts';

const detailOf = (text: string) => {
  try {
    parseJsonObject(text);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('[G-20] strict JSON', () => {
  test.each([
    ['{"a":1,"a":2}', 'duplicate key'],
    ['{"a":{"b":1,"b":1}}', 'duplicate key'],
    ['{"a":1,"\\u0061":2}', 'duplicate key'],
    ['{"__proto__":{}}', '__proto__'],
    ['{"a":{"__proto__":1}}', '__proto__'],
    ['{"a":"\\ud800"}', 'lone surrogate'],
    ['{"\\udc00":1}', 'lone surrogate'],
    ['{"a":1e999}', 'a: the number is too large'],
    ['{"a":[{},{"b":-1e999}]}', 'a.1.b: the number is too large'],
    ['1e999', 'must be a JSON object'],
    [`{"a":${'['.repeat(9)}${']'.repeat(9)}}`, 'nested deeper'],
    [`${'['.repeat(5000)}`, 'nested deeper'],
    [`{"a":[${'1,'.repeat(4_001)}1]}`, 'more than 4000 members and elements'],
    [`{${'"a":1,'.repeat(4_001)}"b":1}`, 'more than 4000 members and elements'],
    [`{"a":[${'[],'.repeat(4_001)}[`, 'more than 4000 members and elements'],
    [`{"a":[${'{"999":0},'.repeat(21)}0]}`, 'numbers such as 999'],
    [`{"a":[${'{"\\u0039\\u0039\\u0039" :0},'.repeat(21)}0]}`, 'numbers such as 999'],
    [`{"a":[${'{"999":0,"1003":0,"1508":{"b":0}},'.repeat(14)}0]}`, 'numbers such as 999'],
    ['{"a":1', 'not valid JSON'],
    ['', 'is empty; send a JSON object'],
    [' \n', 'is empty; send a JSON object'],
    ['{"a":"unclosed', 'not valid JSON'],
    ['[]', 'must be a JSON object'],
    ['null', 'must be a JSON object'],
    ['"text"', 'must be a JSON object'],
  ])('strict JSON rejects %s', (text, reason) => {
    expect(detailOf(text)).toContain(reason);
  });

  test('[G-19] parseJsonObject returns every other JSON object unchanged', () => {
    const object = fc.dictionary(
      fc.string({ unit: 'grapheme' }).filter((key) => key !== '__proto__'),
      fc.jsonValue({ maxDepth: 4 }),
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(object, (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__') && JSON.stringify(JSON.parse(text)) === text);
        expect(parseJsonObject(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test('strict JSON ignores colons, braces, commas and quotes inside strings', () => {
    const value = { 'a:b': '{"x":1}', c: '\\":\\\\', d: ','.repeat(5_000) };
    expect(parseJsonObject(JSON.stringify(value))).toEqual(value);
  });
});

test('[G-20] years, large ids and small numbers may be names', () => {
  const ids = Array.from({ length: 500 }, (_, n) => `"${n}":${n}`).join();
  const texts = [
    `{"a":{${ids}}}`,
    `{"a":[${'{"2025":1,"2026":2},'.repeat(9)}"999:"]}`,
    `{"a":[${'{"12345678":1,"100000":2},'.repeat(100)}"90000"]}`,
  ];
  expect(texts.map(detailOf)).toEqual(['accepted', 'accepted', 'accepted']);
});

test('[G-20] names with escapes are not parsed one by one', () => {
  const parse = spyOn(JSON, 'parse');
  expect(detailOf('"\\a":'.repeat(10_000))).toContain('not valid JSON');
  expect(parse).toHaveBeenCalledTimes(1);
  parse.mockRestore();
});
