import { expect, test } from 'bun:test';
import { JsonText, PART_CHARS, partsOf } from './json-text.ts';

test.each([0, 1])(
  '[L-17] a large response in parts has the bytes of the whole, when a surrogate pair is at the end of a part (%i)',
  (shift) => {
    const text = 'x'.repeat(shift) + '😀'.repeat(PART_CHARS);
    const parts = [...partsOf(text)];
    expect(parts.length).toBeGreaterThan(1);
    const encoder = new TextEncoder();
    const sent = Buffer.concat(parts.map((part) => encoder.encode(part)));
    expect(sent.equals(encoder.encode(text))).toBe(true);
  },
);

test('[L-17] a result in many parts is sent in few texts, with the same bytes', () => {
  const parts = Array.from({ length: 2_000 }, (_, n) => `${n} `.padEnd(1_000, '😀'));
  const json = new JsonText(parts);
  const texts = [...json.texts()];
  expect(texts.length).toBeLessThan(40);
  expect(texts.join('')).toBe(parts.join(''));
  expect(`${json}`).toBe(parts.join(''));
  expect(json.bytes).toBe(Buffer.byteLength(parts.join('')));
});
