import { expect, test } from 'bun:test';
import { LARGE_RESPONSE_CHARS, partsOf } from './large-responses.ts';

test.each([0, 1])(
  '[L-17] a large response is sent in parts without a change, also where a part ends beside a pair of surrogates (%i)',
  (shift) => {
    const text = 'x'.repeat(shift) + '😀'.repeat(LARGE_RESPONSE_CHARS);
    const parts = [...partsOf(text)];
    expect(parts.length).toBeGreaterThan(1);
    const encoder = new TextEncoder();
    const sent = Buffer.concat(parts.map((part) => encoder.encode(part)));
    expect(sent.equals(encoder.encode(text))).toBe(true);
  },
);
