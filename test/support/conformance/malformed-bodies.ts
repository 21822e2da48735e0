import type { Member } from './body-members.ts';

/** A body as it goes over the wire, and what `detail` must say about it. */
export interface MalformedBody {
  readonly what: string;
  readonly text: string | Uint8Array;
  /** A word that `detail` must contain. */
  readonly says: string;
}

type Body = Readonly<Record<string, unknown>>;

/** Stands for a value in the body, to be replaced by JSON that no object can give. */
const RAW = '\u0001raw\u0001';
const withRaw = (body: Body, json: string) =>
  JSON.stringify(body).replace(JSON.stringify(RAW), () => json);

const NUL = { what: 'NUL', value: 'a\0b' };
const CONTROLS = [NUL, { what: 'a line feed', value: 'a\nb' }, { what: 'DEL', value: 'a\x7fb' }];
const C1 = { what: 'a C1 control', value: 'a\u0085b' };

/** Values that a member of this form may not have. */
function wrongValues(member: Member): { what: string; value: unknown }[] {
  const strings = [
    { what: 'an empty string', value: '' },
    { what: 'a blank', value: ' \u00a0 ' },
    ...CONTROLS,
    C1,
  ];
  const types = [
    { what: 'true', value: true },
    { what: 'a number', value: 7 },
    { what: 'a string', value: 'text' },
    { what: 'an array', value: [] },
    { what: 'an array of it', value: ['text'] },
    { what: 'an object', value: {} },
  ];
  const not = (...kept: string[]) => types.filter(({ what }) => !kept.includes(what));
  switch (member.is) {
    case 'uuid':
    case 'email':
      return [...types, ...strings, { what: 'too long', value: 'a'.repeat(400) }];
    case 'text':
      return [
        ...not('a string'),
        ...strings,
        { what: 'too long', value: 'x'.repeat(member.max + 1) },
      ];
    case 'key':
      return not('a string');
    case 'integer':
      return [
        ...not('a number'),
        ...strings,
        { what: 'a fraction', value: member.min + 0.5 },
        { what: '2^53', value: 2 ** 53 },
        { what: '-2^53', value: -(2 ** 53) },
        { what: 'digits', value: '1000' },
        ...(member.min > Number.MIN_SAFE_INTEGER
          ? [{ what: 'too little', value: member.min - 1 }]
          : []),
        ...(member.max === undefined ? [] : [{ what: 'too much', value: member.max + 1 }]),
      ];
    case 'share':
      return [
        ...not('a number'),
        ...strings,
        { what: 'digits', value: '0.1' },
        { what: 'too little', value: -0.01 },
        { what: 'too much', value: member.max + 0.01 },
      ];
    case 'boolean':
      return [
        ...not('true'),
        ...strings,
        { what: '0', value: 0 },
        { what: '"true"', value: 'true' },
      ];
    case 'url':
      return [
        ...types,
        ...strings,
        { what: 'a path', value: '/show.mpd' },
        { what: 'no host', value: 'https:///show.mpd' },
        { what: 'no slashes', value: 'https:example.org/show.mpd' },
        { what: 'an odd port', value: 'https://example.org:x/' },
        { what: 'FTP', value: 'ftp://example.org/show.mpd' },
        ...['\0', '\t', '\n', '\r\n', '\x1b', '\x7f', '\u0085', ' ', '\u00a0', '\u2028'].flatMap(
          (odd) => [
            {
              what: `${JSON.stringify(odd)} before it`,
              value: `${odd}https://example.org/show.mpd`,
            },
            { what: `${JSON.stringify(odd)} in it`, value: `https://example.org/a${odd}b.mpd` },
            {
              what: `${JSON.stringify(odd)} after it`,
              value: `https://example.org/show.mpd${odd}`,
            },
          ],
        ),
        { what: 'a script', value: 'javascript:alert(1)' },
        { what: 'a file', value: 'file:///etc/passwd' },
        { what: 'too long', value: `https://example.org/${'x'.repeat(2_048)}` },
      ];
    case 'one of':
      return [...types, ...strings, { what: '__proto__', value: '__proto__' }];
    case 'texts':
      return [
        ...not('an array of it'),
        { what: 'an element that is null', value: ['a', null] },
        { what: 'an element that is empty', value: ['a', ''] },
        { what: 'an element with NUL', value: ['a', 'b\0'] },
        { what: 'an element that is too long', value: ['a', 'x'.repeat(201)] },
      ];
    case 'ids':
      return [
        ...not('an array'),
        { what: 'an element that is null', value: [null] },
        { what: 'too many', value: Array(2_001).fill(crypto.randomUUID()) },
      ];
    case 'lines':
      return [
        ...not('an array of it'),
        { what: 'an element that is null', value: [null] },
        { what: 'an element with a blank', value: ['a b'] },
        { what: 'an element twice', value: ['a', 'a'] },
        { what: 'too many', value: Array.from({ length: 101 }, () => crypto.randomUUID()) },
      ];
    case 'choices':
      return [
        ...types,
        ...strings,
        { what: 'an element that is null', value: ['winners', null] },
        { what: 'an element twice', value: ['winners', 'winners'] },
        { what: 'too many', value: Array(100).fill('winners') },
      ];
    case 'object':
      return not('an object');
  }
}

/** Every way to break one member of a valid body. */
export function brokenMembers(valid: Body, members: Record<string, Member>): MalformedBody[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const { [name]: _, ...rest } = valid;
    const broken = (what: string, value: unknown): MalformedBody => ({
      what: `${name}: ${what}`,
      text: JSON.stringify({ ...valid, [name]: value }),
      says: name,
    });
    const raw = (what: string, json: string, says: string): MalformedBody => ({
      what: `${name}: ${what}`,
      text: withRaw({ ...valid, [name]: RAW }, json),
      says,
    });
    const original = JSON.stringify(valid[name]);
    return [
      ...(member.optional
        ? []
        : [{ what: `${name}: missing`, text: JSON.stringify(rest), says: name }]),
      ...(member.nullable ? [] : [broken('null', null)]),
      ...wrongValues(member).map(({ what, value }) => broken(what, value)),
      raw('1e999', '1e999', `${name}: the number`),
      raw('-1e999', '-1e999', `${name}: the number`),
      raw('a lone high surrogate', '"a\\ud800"', 'surrogate'),
      raw('a lone low surrogate', '"\\udc00a"', 'surrogate'),
      raw('surrogates turned round', '"\\udc00\\ud800"', 'surrogate'),
      raw('nested 2,000 deep', '['.repeat(1_000) + ']'.repeat(1_000), 'nested'),
      raw('nested 9 deep', `${'{"a":'.repeat(8)}1${'}'.repeat(8)}`, 'nested'),
      raw('a duplicate inside', '{"a":1,"a":1}', 'repeats'),
      raw('__proto__ inside', '{"__proto__":{"admin":true}}', '__proto__'),
      raw('sent twice', `${original},${JSON.stringify(name)}:${original}`, 'repeats'),
    ];
  });
}

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/** Bodies that are wrong for every operation. */
export function brokenBodies(valid: Body): MalformedBody[] {
  const text = JSON.stringify(valid);
  const open = text.slice(0, -1);
  const json = 'JSON';
  return [
    { what: 'no body', text: '', says: 'The body is empty; send a JSON object.' },
    { what: 'a blank body', text: ' \n', says: 'empty' },
    { what: 'null', text: 'null', says: 'object' },
    { what: 'an array', text: `[${text}]`, says: 'object' },
    { what: 'a string', text: JSON.stringify(text), says: 'object' },
    { what: 'a number', text: '7', says: 'object' },
    { what: 'half a body', text: text.slice(0, text.length >> 1), says: json },
    { what: 'two bodies', text: text + text, says: json },
    { what: 'a trailing comma', text: `${open},}`, says: json },
    { what: 'a comment', text: `${text}//`, says: json },
    { what: 'single quotes', text: text.replaceAll('"', "'"), says: json },
    { what: 'NaN', text: `${open},"x":NaN}`, says: json },
    { what: 'a form', text: 'a=1&b=2', says: json },
    { what: 'a NUL byte', text: `${text}\0`, says: json },
    { what: 'a raw line feed in a string', text: `${open},"x":"a\nb"}`, says: json },
    { what: 'a byte order mark', text: bytes([0xef, 0xbb, 0xbf], text), says: json },
    { what: '__proto__', text: `${open},"__proto__":{"admin":true}}`, says: '__proto__' },
    { what: '__proto__ escaped', text: `${open},"__pro\\u0074o__":1}`, says: '__proto__' },
    { what: 'a key twice', text: `${open},"x":1,"x":1}`, says: 'repeats' },
    { what: 'a key twice, once escaped', text: `${open},"x":1,"\\u0078":1}`, says: 'repeats' },
    { what: 'a key with a lone surrogate', text: `${open},"\\ud800":1}`, says: 'surrogate' },
    { what: 'an unknown 1e999', text: `${open},"x":1e999}`, says: 'number' },
    { what: 'deep nesting', text: `${open},"x":${'['.repeat(1_500)}`, says: 'nested' },
    { what: 'invalid UTF-8', text: bytes(open, ',"x":"', [0xff], '"}'), says: 'UTF-8' },
    {
      what: 'a UTF-8 surrogate',
      text: bytes(open, ',"x":"', [0xed, 0xa0, 0x80], '"}'),
      says: 'UTF-8',
    },
    { what: 'an overlong UTF-8', text: bytes(open, ',"x":"', [0xc0, 0x80], '"}'), says: 'UTF-8' },
    { what: 'UTF-16', text: Buffer.from(`\ufeff${text}`, 'utf16le'), says: 'UTF-8' },
  ];
}
