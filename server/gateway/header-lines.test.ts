import { describe, expect, test } from 'bun:test';
import { FIELD, HeaderLines } from './header-lines.ts';

const LINES = [
  'Host: fourbeat.example',
  'X-Forwarded-For: 203.0.113.7',
  'AUTHORIZATION: Bearer a.b.c',
  'Content-Length: 0',
];
const bytesOf = (lines: readonly string[]) => Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);

function readOf(lines: readonly string[]) {
  const read = new HeaderLines();
  const bytes = bytesOf(lines);
  expect(read.read(bytes, 0)).toBe(bytes.length);
  return { read, bytes };
}
const fingerprintOf = (lines: readonly string[]) => readOf(lines).read.fingerprint;

describe('HeaderLines', () => {
  test('finds fields by name in any case, from any offset', () => {
    const bytes = Buffer.concat([Buffer.from('GET'), bytesOf(LINES), Buffer.from('POST')]);
    const read = new HeaderLines();
    expect(read.read(bytes, 3)).toBe(bytes.length - 4);
    expect(read.text(bytes, FIELD.host)).toBe('fourbeat.example');
    expect(read.text(bytes, FIELD.authorization)).toBe('Bearer a.b.c');
    expect(read.is(bytes, FIELD['content-length'], Buffer.from('0'))).toBe(true);
    expect(read.is(bytes, FIELD['content-length'], Buffer.from('00'))).toBe(false);
    expect(read.text(bytes, FIELD.accept)).toBeNull();
  });

  test('forgets the fields of one head when it reads the next', () => {
    const { read } = readOf(LINES);
    const bytes = bytesOf(['Accept: */*']);
    read.read(bytes, 0);
    expect([read.has(FIELD.accept), read.has(FIELD.host)]).toEqual([true, false]);
    expect(read.is(bytes, FIELD.host, Buffer.from(''))).toBe(false);
  });

  test('[G-31] rejects a known field that occurs twice, and accepts others', () => {
    for (const again of ['host: fourbeat.example', 'X-Request-Id: 2']) {
      const twice = bytesOf([...LINES, 'x-request-id: 1', again]);
      expect(new HeaderLines().read(twice, 0)).toBe(0);
    }
    const { read, bytes } = readOf([
      ...LINES,
      'X-Forwarded-For: 1',
      'X-Request-Id: 2',
      'x-forwarded-for: 3',
    ]);
    expect(read.text(bytes, FIELD['x-request-id'])).toBe('2');
  });

  test('has equal fingerprints for heads that differ only in the token, and different ones otherwise', () => {
    const fingerprint = fingerprintOf(LINES);
    expect(fingerprintOf(LINES.with(2, 'AUTHORIZATION: Bearer another'))).toBe(fingerprint);
    expect(fingerprintOf([...LINES].reverse())).not.toBe(fingerprint);
    for (const [index, line] of LINES.entries()) {
      if (index === 2) continue;
      for (let at = 0; at < line.length; at++) {
        const letter = line.charCodeAt(at);
        if (/[: -]/.test(line[at] as string)) continue;
        const other = line.slice(0, at) + String.fromCharCode(letter + 1) + line.slice(at + 1);
        expect([other, fingerprintOf(LINES.with(index, other)) === fingerprint]).toEqual([
          other,
          false,
        ]);
      }
    }
  });
});
