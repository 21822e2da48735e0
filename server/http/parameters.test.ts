import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { z } from 'zod';
import { streamListQuerySchema } from '../../protocol/streams.ts';
import { checkEncoding, pathIds, readQuery } from './parameters.ts';
import { Problem } from './problem.ts';

const UUID = '11111111-2222-4333-8444-555555555555';
const requestOf = (query: string) => new Request(`http://127.0.0.1/x${query}`);
const read = (query: string) => readQuery(requestOf(query), streamListQuerySchema);

function problemOf(run: () => unknown): Problem {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('no problem was thrown');
}

describe('readQuery', () => {
  test('readQuery returns known parameters and defaults for missing ones', () => {
    expect(read(`?producer=${UUID}&page=3`)).toEqual({ producer: UUID, page: 3, page_size: 20 });
  });

  test('[G-7] readQuery ignores unknown parameters, also repeated ones and names of Object.prototype', () => {
    expect(read(`?a=1&__proto__=2&toString=3&a=4&producer=${UUID}&&=`).producer).toBe(UUID);
  });

  test.each(['?producer=x', '', '?', '?page=0', '?producer'])(
    '[S-7] readQuery throws 400 for a missing or wrong producer in %p',
    (query) => {
      const problem = problemOf(() => read(query));
      expect(problem.status).toBe(400);
      expect(problem.message).toContain('producer');
    },
  );

  test.each([
    `?producer=${UUID}&producer=${UUID}`,
    `?producer=${UUID}&page=1&page=2`,
    `?producer=${UUID}&page=1&%70age=1`,
  ])('[G-24] readQuery throws 400 for the repeated parameter in %p', (query) => {
    const problem = problemOf(() => read(query));
    expect(problem.status).toBe(400);
    expect(problem.message).toContain('once');
  });

  test.each(['%', '%2', '%zz', '%ff', '%c3%28', '%ed%a0%80'])(
    '[G-24] checkEncoding throws 400 for %p in a path, a name or a value',
    (text) => {
      for (const part of [`/${text}`, `?producer=${text}`, `?${text}=1`, `?a=%41&b=${text}`]) {
        const problem = problemOf(() => checkEncoding(`http://127.0.0.1/x${part}`));
        expect(problem.status).toBe(400);
        expect(problem.message).toContain('percent-encoding');
      }
    },
  );

  test('[G-24] checkEncoding accepts well-formed encoding and URLs without an origin', () => {
    for (const url of ['http://127.0.0.1/x%2Fy?a=%c3%a9+%00', '/x', '', 'http://[::1/x']) {
      expect(() => checkEncoding(url)).not.toThrow();
    }
  });

  test('readQuery decodes any encoded well-formed text', () => {
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

const idOf = (stream_id: string) => pathIds({ params: { stream_id } }).stream_id;

test('pathIds folds uuids to lower case', () => {
  const id = crypto.randomUUID();
  expect([idOf(id), idOf(id.toUpperCase())]).toEqual([id, id]);
});

test('[G-12] [G-28] pathIds turns every malformed id into the empty string', () => {
  const id = crypto.randomUUID();
  const near = ['\0', ' ', '\n', '0', '\ud800'].flatMap((piece) => [id + piece, piece + id]);
  for (const text of ['', `{${id}}`, id.slice(1), ...near]) expect(idOf(text)).toBe('');
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => idOf(text) === ''));
});
