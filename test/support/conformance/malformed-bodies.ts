import type { Member } from './body-members.ts';

/** A malformed body; `fault` says what is wrong with it. */
export interface MalformedBody {
  readonly fault: string;
  readonly text: string | Uint8Array;
  /** A text that `detail` must contain. */
  readonly expected: string;
}

type Body = Readonly<Record<string, unknown>>;

/** Placeholder for a value, to be replaced by JSON that no object serializes to. */
const RAW = '\u0001raw\u0001';
const withRaw = (body: Body, json: string) =>
  JSON.stringify(body).replace(JSON.stringify(RAW), () => json);

const NUL = { fault: 'NUL', value: 'a\0b' };
const CONTROLS = [NUL, { fault: 'a line feed', value: 'a\nb' }, { fault: 'DEL', value: 'a\x7fb' }];
const C1 = { fault: 'a C1 control', value: 'a\u0085b' };

/** Invalid values for a member of this kind. */
function wrongValues(member: Member): { fault: string; value: unknown }[] {
  const strings = [
    { fault: 'an empty string', value: '' },
    { fault: 'a blank', value: ' \u00a0 ' },
    ...CONTROLS,
    C1,
  ];
  const types = [
    { fault: 'true', value: true },
    { fault: 'a number', value: 7 },
    { fault: 'a string', value: 'text' },
    { fault: 'an array', value: [] },
    { fault: 'an array of strings', value: ['text'] },
    { fault: 'an object', value: {} },
  ];
  const typesExcept = (...excluded: string[]) =>
    types.filter(({ fault }) => !excluded.includes(fault));
  switch (member.is) {
    case 'uuid':
    case 'email':
      return [...types, ...strings, { fault: 'too long', value: 'a'.repeat(400) }];
    case 'text':
      return [
        ...typesExcept('a string'),
        ...strings,
        { fault: 'too long', value: 'x'.repeat(member.max + 1) },
      ];
    case 'key':
      return typesExcept('a string');
    case 'integer':
      return [
        ...typesExcept('a number'),
        ...strings,
        { fault: 'a fraction', value: member.min + 0.5 },
        { fault: '2^53', value: 2 ** 53 },
        { fault: '-2^53', value: -(2 ** 53) },
        { fault: 'digits', value: '1000' },
        ...(member.min > Number.MIN_SAFE_INTEGER
          ? [{ fault: 'too little', value: member.min - 1 }]
          : []),
        ...(member.max === undefined ? [] : [{ fault: 'too much', value: member.max + 1 }]),
      ];
    case 'share':
      return [
        ...typesExcept('a number'),
        ...strings,
        { fault: 'digits', value: '0.1' },
        { fault: 'too little', value: -0.01 },
        { fault: 'too much', value: member.max + 0.01 },
      ];
    case 'boolean':
      return [
        ...typesExcept('true'),
        ...strings,
        { fault: '0', value: 0 },
        { fault: '"true"', value: 'true' },
      ];
    case 'url':
      return [
        ...types,
        ...strings,
        { fault: 'a path', value: '/show.mpd' },
        { fault: 'no host', value: 'https:///show.mpd' },
        { fault: 'no slashes', value: 'https:example.org/show.mpd' },
        { fault: 'an odd port', value: 'https://example.org:x/' },
        { fault: 'FTP', value: 'ftp://example.org/show.mpd' },
        ...['\0', '\t', '\n', '\r\n', '\x1b', '\x7f', '\u0085', ' ', '\u00a0', '\u2028'].flatMap(
          (odd) => [
            {
              fault: `${JSON.stringify(odd)} before it`,
              value: `${odd}https://example.org/show.mpd`,
            },
            { fault: `${JSON.stringify(odd)} in it`, value: `https://example.org/a${odd}b.mpd` },
            {
              fault: `${JSON.stringify(odd)} after it`,
              value: `https://example.org/show.mpd${odd}`,
            },
          ],
        ),
        { fault: 'a script', value: 'javascript:alert(1)' },
        { fault: 'a file', value: 'file:///etc/passwd' },
        { fault: 'too long', value: `https://example.org/${'x'.repeat(2_048)}` },
      ];
    case 'one of':
      return [...types, ...strings, { fault: '__proto__', value: '__proto__' }];
    case 'texts':
      return [
        ...typesExcept('an array of strings'),
        { fault: 'an element that is null', value: ['a', null] },
        { fault: 'an element that is empty', value: ['a', ''] },
        { fault: 'an element with NUL', value: ['a', 'b\0'] },
        { fault: 'an element that is too long', value: ['a', 'x'.repeat(201)] },
      ];
    case 'ids':
      return [
        ...typesExcept('an array'),
        { fault: 'an element that is null', value: [null] },
        { fault: 'too many', value: Array(2_001).fill(crypto.randomUUID()) },
      ];
    case 'messages':
      return [
        ...typesExcept('an array of strings'),
        { fault: 'an element that is null', value: [null] },
        { fault: 'an element with a blank', value: ['a b'] },
        { fault: 'an element twice', value: ['a', 'a'] },
        { fault: 'too many', value: Array.from({ length: 101 }, () => crypto.randomUUID()) },
      ];
    case 'choices':
      return [
        ...types,
        ...strings,
        { fault: 'an element that is null', value: ['winners', null] },
        { fault: 'an element twice', value: ['winners', 'winners'] },
        { fault: 'too many', value: Array(100).fill('winners') },
      ];
    case 'object':
      return typesExcept('an object');
  }
}

/** All variants of a valid body with one malformed member. */
export function malformedMembers(valid: Body, members: Record<string, Member>): MalformedBody[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const { [name]: _, ...withoutMember } = valid;
    const broken = (fault: string, value: unknown): MalformedBody => ({
      fault: `${name}: ${fault}`,
      text: JSON.stringify({ ...valid, [name]: value }),
      expected: name,
    });
    const raw = (fault: string, json: string, expected: string): MalformedBody => ({
      fault: `${name}: ${fault}`,
      text: withRaw({ ...valid, [name]: RAW }, json),
      expected,
    });
    const original = JSON.stringify(valid[name]);
    return [
      ...(member.optional
        ? []
        : [{ fault: `${name}: missing`, text: JSON.stringify(withoutMember), expected: name }]),
      ...(member.nullable ? [] : [broken('null', null)]),
      ...wrongValues(member).map(({ fault, value }) => broken(fault, value)),
      raw('1e999', '1e999', `${name}: the number`),
      raw('-1e999', '-1e999', `${name}: the number`),
      raw('a lone high surrogate', '"a\\ud800"', 'surrogate'),
      raw('a lone low surrogate', '"\\udc00a"', 'surrogate'),
      raw('surrogates turned round', '"\\udc00\\ud800"', 'surrogate'),
      raw('nested 1,000 deep', '['.repeat(1_000) + ']'.repeat(1_000), 'nested'),
      raw('nested 9 deep', `${'{"a":'.repeat(8)}1${'}'.repeat(8)}`, 'nested'),
      raw('a duplicate inside', '{"a":1,"a":1}', 'duplicate'),
      raw('__proto__ inside', '{"__proto__":{"admin":true}}', '__proto__'),
      raw('sent twice', `${original},${JSON.stringify(name)}:${original}`, 'duplicate'),
    ];
  });
}

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/** Bodies that are malformed for every operation. */
export function malformedBodies(valid: Body): MalformedBody[] {
  const text = JSON.stringify(valid);
  const unclosed = text.slice(0, -1);
  const json = 'JSON';
  const rows: [fault: string, text: string | Uint8Array, expected: string][] = [
    ['no body', '', 'The body is empty; send a JSON object.'],
    ['a blank body', ' \n', 'empty'],
    ['null', 'null', 'object'],
    ['an array', `[${text}]`, 'object'],
    ['a string', JSON.stringify(text), 'object'],
    ['a number', '7', 'object'],
    ['half a body', text.slice(0, text.length >> 1), json],
    ['two bodies', text + text, json],
    ['a trailing comma', `${unclosed},}`, json],
    ['a comment', `${text}//`, json],
    ['single quotes', text.replaceAll('"', "'"), json],
    ['NaN', `${unclosed},"x":NaN}`, json],
    ['a form', 'a=1&b=2', json],
    ['a NUL byte', `${text}\0`, json],
    ['a raw line feed in a string', `${unclosed},"x":"a\nb"}`, json],
    ['a byte order mark', bytes([0xef, 0xbb, 0xbf], text), json],
    ['__proto__', `${unclosed},"__proto__":{"admin":true}}`, '__proto__'],
    ['__proto__ escaped', `${unclosed},"__pro\\u0074o__":1}`, '__proto__'],
    ['a key twice', `${unclosed},"x":1,"x":1}`, 'duplicate'],
    ['a key twice, once escaped', `${unclosed},"x":1,"\\u0078":1}`, 'duplicate'],
    ['a key with a lone surrogate', `${unclosed},"\\ud800":1}`, 'surrogate'],
    ['an unknown 1e999', `${unclosed},"x":1e999}`, 'number'],
    ['deep nesting', `${unclosed},"x":${'['.repeat(1_500)}`, 'nested'],
    ['invalid UTF-8', bytes(unclosed, ',"x":"', [0xff], '"}'), 'UTF-8'],
    ['a UTF-8 surrogate', bytes(unclosed, ',"x":"', [0xed, 0xa0, 0x80], '"}'), 'UTF-8'],
    ['an overlong UTF-8', bytes(unclosed, ',"x":"', [0xc0, 0x80], '"}'), 'UTF-8'],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le'), 'UTF-8'],
  ];
  return rows.map(([fault, text, expected]) => ({ fault, text, expected }));
}
