import type { BunRequest } from 'bun';
import { uuid } from '../../protocol/text.ts';

/**
 * The identifiers in the path of a request, by their names in it, in lower case: all are uuids, whose
 * case means nothing (RFC 9562). One that is no uuid names nothing (SPEC G-12) and is the empty text
 * here, so that no database is asked for texts that it cannot take: PostgreSQL has no NUL in them.
 */
export function idsOf(request: Pick<BunRequest<string>, 'params'>): Record<string, string> {
  const params = Object.entries(request.params as Record<string, string>);
  return Object.fromEntries(
    params.map(([name, value]) => [name, uuid.safeParse(value).data ?? '']),
  );
}
