import { z } from 'zod';
import { BODY_BYTES } from './limits.ts';
import { MEMBER_ROLES, PRODUCING_ROLES } from './members.ts';
import { idempotencyKeySchema } from './studio.ts';

// What operations of the producer's API have in common, by who may call them (SPEC U).

const studio = { role: 'studio', access: 'studio', bodyBytes: BODY_BYTES } as const;
/** What an Idempotency-Key makes happen once. */
const idempotent = {
  headers: z.object({ 'Idempotency-Key': idempotencyKeySchema.optional() }),
} as const;

/** A read that every member may make. */
export const memberRead = { ...studio, roles: MEMBER_ROLES } as const;
/** A read of those who make the show. */
export const producerRead = { ...studio, roles: PRODUCING_ROLES } as const;
/** A read of owners. */
export const ownerRead = { ...studio, roles: ['owner'] } as const;
/** A write of those who make the show. */
export const producerWrite = { ...producerRead, ...idempotent } as const;
/** A write that every member may make. */
export const memberWrite = { ...memberRead, ...idempotent } as const;
/** A write of owners. */
export const ownerWrite = { ...ownerRead, ...idempotent } as const;

/** For whoever has a password or a link. */
export const publicOperation = { ...studio, access: 'public' } as const;
/** About the session that calls. */
export const sessionOperation = { ...studio, access: 'session' } as const;

/** What an export answers: these columns, a row at a time. */
export const exportResponses = (columns: string) => ({
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
