import { z } from 'zod';
import { BODY_BYTES } from './limits.ts';
import { MEMBER_ROLES, PRODUCING_ROLES } from './members.ts';
import { idempotencyKeySchema } from './studio.ts';

// What operations of the producer's API have in common, by who may call them (SPEC U).

const studio = { role: 'studio', access: 'studio', bodyBytes: BODY_BYTES } as const;
/** What an Idempotency-Key makes happen once. */
const keyed = {
  headers: z.object({ 'Idempotency-Key': idempotencyKeySchema.optional() }),
} as const;

/** A read that every member may make. */
export const read = { ...studio, roles: MEMBER_ROLES } as const;
/** A read of those who make the show. */
export const producersRead = { ...studio, roles: PRODUCING_ROLES } as const;
/** A read of owners. */
export const ownersRead = { ...studio, roles: ['owner'] } as const;
/** A write of those who make the show. */
export const write = { ...producersRead, ...keyed } as const;
/** A write that every member may make. */
export const membersWrite = { ...read, ...keyed } as const;
/** A write of owners. */
export const ownersWrite = { ...ownersRead, ...keyed } as const;

/** For whoever has a password or a link. */
export const anybodys = { ...studio, access: 'public' } as const;
/** About the session that calls. */
export const ofSession = { ...studio, access: 'session' } as const;

/** What an export answers: these columns, a row at a time. */
export const exportedRows = (columns: string) => ({
  200: {
    description: `Rows with ${columns}, streamed as they were when the export began`,
    otherTypes: {
      'application/x-ndjson': z.string().meta({ description: 'One JSON object a line' }),
      'text/csv': z
        .string()
        .meta({ description: 'A header row, then one record a row (RFC 4180)' }),
    },
    headers: {
      'Content-Disposition': z.string().meta({ description: 'Names the file to save it as' }),
    },
  },
});
