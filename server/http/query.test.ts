import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { z } from 'zod';
import { streamListQuerySchema } from '../../protocol/streams.ts';
import { Problem } from './problem.ts';
import { checkEncoding, readQuery } from './query.ts';

const UUID = '11111111-2222-4333-8444-555555555555';
const requestOf = (query: string) => new Request(`http://127.0.0.1/x${query}`);
const read = (query: string) => readQuery(requestOf(query), streamListQuerySchema);

function refusalOf(run: () => unknown): Problem {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('readQuery', () => {
  test('gives known parameters, with the defaults of those that are missing', () => {
    expect(read(`?producer=${UUID}&page=3`)).toEqual({ producer: UUID, page: 3, page_size: 20 });
  });

  test('[G-7] ignores parameters that it does not know, repeated or named like members of objects', () => {
    expect(read(`?a=1&__proto__=2&toString=3&a=4&producer=${UUID}&&=`).producer).toBe(UUID);
  });

  test.each(['?producer=x', '', '?', '?page=0', '?producer'])('[S-7] 400 for %p', (query) => {
    const problem = refusalOf(() => read(query));
    expect(problem.status).toBe(400);
    expect(problem.message).toContain('producer');
  });

  test.each([
    `?producer=${UUID}&producer=${UUID}`,
    `?producer=${UUID}&page=1&page=2`,
    `?producer=${UUID}&page=1&%70age=1`,
  ])('[G-24] 400 for the repeated parameter in %p', (query) => {
    const problem = refusalOf(() => read(query));
    expect(problem.status).toBe(400);
    expect(problem.message).toContain('once');
  });

  test.each(['%', '%2', '%zz', '%ff', '%c3%28', '%ed%a0%80'])(
    '[G-24] 400 for the malformed encoding %p, in a path, in names and in values',
    (text) => {
      for (const part of [`/${text}`, `?producer=${text}`, `?${text}=1`, `?a=%41&b=${text}`]) {
        const problem = refusalOf(() => checkEncoding(`http://127.0.0.1/x${part}`));
        expect(problem.status).toBe(400);
        expect(problem.message).toContain('percent-encoding');
      }
    },
  );

  test('[G-24] lets pass what is well encoded, and URLs that have no origin', () => {
    for (const url of ['http://127.0.0.1/x%2Fy?a=%c3%a9+%00', '/x', '', 'http://[::1/x']) {
      expect(() => checkEncoding(url)).not.toThrow();
    }
  });

  test('reads any well-formed text back as it was encoded', () => {
    const schema = z.object({ text: z.string() });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const query = `?${new URLSearchParams({ text })}`;
        expect(readQuery(requestOf(query), schema)).toEqual({ text });
        const strict = `?text=${encodeURIComponent(text)}`;
        expect(readQuery(requestOf(strict), schema)).toEqual({ text });
      }),
    );
  });
});
