import type { BunRequest } from 'bun';
import type { z } from 'zod';
import { messageId, viewerId } from '../../protocol/moderation.ts';
import { uuid } from '../../protocol/text.ts';
import { validate } from './body.ts';
import { Problem } from './problem.ts';

/** Schemas of path parameters that are not uuids, by name. */
export const NON_UUID_IDS: Readonly<Record<string, z.ZodType<string>>> = {
  viewer: viewerId,
  line_id: messageId,
};

/**
 * The path parameters of a request by name; uuids in lower case (RFC 9562). A malformed id identifies
 * nothing (SPEC G-12) and becomes the empty string, so that no text reaches the database that it cannot
 * store: PostgreSQL rejects NUL.
 */
export function pathIds(request: Pick<BunRequest<string>, 'params'>): Record<string, string> {
  const params = Object.entries(request.params as Record<string, string>);
  return Object.fromEntries(
    params.map(([name, value]) => [name, (NON_UUID_IDS[name] ?? uuid).safeParse(value).data ?? '']),
  );
}

/**
 * Checks the percent-encoding of a URL. The router calls this for every request, so that handlers may
 * decode any part.
 * @throws Problem 400 for malformed percent-encoding in the path or the query (SPEC G-24)
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
 * @throws Problem 400, also for a repeated known parameter (G-24)
 */
export function readQuery<T extends z.ZodObject>(request: Request, schema: T): z.infer<T> {
  const values = new Map<string, string>();
  for (const part of queryOf(request.url).split('&')) {
    const [encodedName, value] = splitPair(part);
    const name = decodeComponent(encodedName);
    if (!Object.hasOwn(schema.shape, name)) continue;
    if (values.has(name)) throw new Problem(400, `${name}: send this parameter once.`);
    values.set(name, decodeComponent(value));
  }
  return validate(schema, Object.fromEntries(values));
}

function queryOf(url: string): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : (url.slice(start + 1).split('#', 1)[0] ?? '');
}

/** @returns the name and the value of `name=value`, as they are encoded */
function splitPair(part: string): [name: string, value: string] {
  const equals = part.indexOf('=');
  return equals === -1 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
}

const ENCODED = /[%+]/;

function decodeComponent(text: string): string {
  // Anybody may send 7,500 parameters: to decode each takes 1 ms.
  if (!ENCODED.test(text)) return text;
  return decodeURIComponent(text.replaceAll('+', ' '));
}
