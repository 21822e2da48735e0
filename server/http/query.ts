import type { z } from 'zod';
import { validate } from './body.ts';
import { Problem } from './problem.ts';

/**
 * The router checks every request with this, so that handlers may decode what they like.
 * @throws Problem 400 when the path or the query has malformed percent-encoding (SPEC G-24)
 */
export function checkEncoding(url: string): void {
  if (!url.includes('%')) return;
  try {
    decodeURIComponent(url);
  } catch {
    throw new Problem(400, 'The path or the query has malformed percent-encoding.');
  }
}

/**
 * Reads and validates the query of a request. Parameters that the schema does not know are
 * ignored (SPEC G-7).
 * @throws Problem 400, also when a known parameter is repeated (G-24)
 */
export function readQuery<T extends z.ZodObject>(request: Request, schema: T): z.infer<T> {
  const values = new Map<string, string>();
  for (const [name, value] of pairsOf(request.url)) {
    if (!Object.hasOwn(schema.shape, name)) continue;
    if (values.has(name)) throw new Problem(400, `${name}: send this parameter once.`);
    values.set(name, value);
  }
  return validate(schema, Object.fromEntries(values));
}

function pairsOf(url: string): [string, string][] {
  const start = url.indexOf('?');
  if (start === -1) return [];
  const query = url.slice(start + 1).split('#', 1)[0] ?? '';
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals === -1
        ? [decoded(part), '']
        : [decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))];
    });
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}
