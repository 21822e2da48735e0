import type { BunRequest } from 'bun';
import type { z } from 'zod';
import { lineId, viewerId } from '../../protocol/moderation.ts';
import { uuid } from '../../protocol/text.ts';

/** Identifiers in paths that are no uuids, by their names. */
export const OTHER_IDS: Readonly<Record<string, z.ZodType<string>>> = {
  viewer: viewerId,
  line_id: lineId,
};

/**
 * The identifiers in the path of a request, by their names in it. Most are uuids, whose case means
 * nothing (RFC 9562), and come in lower case. One that is none names nothing (SPEC G-12) and is the
 * empty text here, so that no database is asked for texts that it cannot take: PostgreSQL has no NUL
 * in them.
 */
export function idsOf(request: Pick<BunRequest<string>, 'params'>): Record<string, string> {
  const params = Object.entries(request.params as Record<string, string>);
  return Object.fromEntries(
    params.map(([name, value]) => [name, (OTHER_IDS[name] ?? uuid).safeParse(value).data ?? '']),
  );
}
